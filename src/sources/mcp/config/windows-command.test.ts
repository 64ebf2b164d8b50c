import { expect, test } from "vitest";
import { findWindowsProgram, toWindowsCommand } from "./server-program.ts";
import { toLaunch } from "./to-launch.ts";

const FILES = [
  "C:\\Program Files\\nodejs\\node.exe",
  "C:\\Program Files\\nodejs\\npx.cmd",
  "C:\\tools\\run.bat",
  "C:\\work\\own.exe",
];
const place = {
  env: {
    Path: "C:\\tools;C:\\Program Files\\nodejs",
    PATHEXT: ".COM;.EXE;.BAT;.CMD",
    COMSPEC: "C:\\Windows\\cmd.exe",
  },
  cwd: "C:\\work",
  isFile: (path: string) => FILES.some((file) => file.toLowerCase() === path.toLowerCase()),
};

test.each([
  ["node", FILES[0]],
  ["NODE.EXE", FILES[0]],
  ["npx", FILES[1]],
  ["npx.cmd", FILES[1]],
  ["run", FILES[2]],
  [".\\own", FILES[3]],
  ["C:\\tools\\run.bat", FILES[2]],
  ["missing", undefined],
])("Windows finds %s by its Path and PATHEXT", (command, path) => {
  expect(findWindowsProgram(command, place)?.toLowerCase()).toBe(path?.toLowerCase());
});

test("a program is started as it is, with its endings", () => {
  expect(toWindowsCommand("a", "node", ["server.js", 'say "hi"'], place)).toEqual({
    command: FILES[0],
    args: ["server.js", 'say "hi"'],
    isVerbatim: false,
  });
});

test("a shim is run by cmd.exe, and its arguments cannot leave their quotes", () => {
  const { command, args, isVerbatim } = toWindowsCommand("a", "npx", ["-y", "a&calc", 'x" & calc "'], place);
  expect([command, isVerbatim, args.slice(0, 3)]).toEqual(["C:\\Windows\\cmd.exe", true, ["/d", "/s", "/c"]]);
  const line = args[3]!;
  expect(line).toBe(
    '"C:\\Program^ Files\\nodejs\\npx.cmd ^^^"-y^^^" ^^^"a^^^&calc^^^" ^^^"x\\^^^"^^^ ^^^&^^^ calc^^^ \\^^^"^^^""',
  );
  // Every character with a meaning for cmd.exe is escaped.
  expect(line.slice(1, -1).replace(/\^./g, "")).not.toMatch(/[&|<>"%]/);
});

test("a batch file that is no shim is escaped once", () => {
  expect(toWindowsCommand("a", "run", ["50%"], place).args[3]).toBe('"C:\\tools\\run.bat ^"50^%^""');
});

test("a line break is refused for cmd.exe", () => {
  expect(() => toWindowsCommand("a", "npx", ["a\nb"], place)).toThrow("line break");
});

test("programs get the variables of Windows, of proxies and of certificates, and no others", () => {
  const environment = {
    Path: "C:\\tools",
    AppData: "C:\\me\\AppData",
    USERPROFILE: "C:\\me",
    HTTPS_PROXY: "http://proxy:8080",
    no_proxy: "localhost",
    NODE_EXTRA_CA_CERTS: "C:\\ca.pem",
    GITHUB_TOKEN: "secret",
  };
  const config = { transport: "stdio", command: "x", args: [] as string[], env: {} } as const;
  const { env } = toLaunch(config, { label: "a", variables: {}, environment, cwd: undefined });
  const { GITHUB_TOKEN: _, ...expected } = environment;
  expect(env).toEqual(expected);
});
