// A server may replace a text of the home that its config names, and nothing else there.
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isolate, pathsIn } from "../../src/sources/isolation/isolation.ts";
import { type Isolation, planMounts } from "../../src/sources/isolation/mounts.ts";
import { isolationMissing } from "../bubblewrap.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const isMissing = (await isolationMissing()) !== undefined;

/** A home with keys, settings and documents. */
function openHome() {
  const home = temporaryFolder();
  const folder = temporaryFolder();
  const place = (...parts: string[]) => join(home, ...parts);
  for (const part of [".ssh", ".cursor", "Documents"]) mkdirSync(place(part));
  writeFileSync(place(".ssh/id_rsa"), "PLANTED");
  writeFileSync(place(".bashrc"), "true");
  writeFileSync(place("Documents/a.txt"), "hello");
  writeFileSync(place(".cursor/mcp.json"), "PLANTED");
  symlinkSync(".ssh", place("link"));
  const env = { HOME: home, PATH: "/usr/bin:/bin" };
  const program = (args: readonly string[]) => ({ command: "/bin/sh", args, env, cwd: folder });
  const limits = (named: readonly string[], network: Isolation["network"] = "none") => ({
    open: pathsIn(named, folder, home),
    hidden: [],
    network,
  });
  /** Runs a script in the sandbox of a server whose config names these files. */
  const run = async (script: string, ...named: string[]): Promise<string> => {
    const isolated = await isolate(program(["-c", script]), limits(named));
    const child = spawn(isolated!.command, isolated!.args, {
      env: { ...env, ...isolated!.env },
      cwd: folder,
    });
    isolated!.attach(child);
    let said = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk) => {
        said += chunk;
      });
    await once(child, "close");
    return said;
  };
  /** Runs a script in the sandbox of a server that reaches one host. */
  const runListed = async (script: string, named: string): Promise<void> => {
    const isolated = await isolate(program(["-c", script]), limits([named], ["example.com"]));
    const { command, args, channels, attach } = isolated!;
    const stdio = ["ignore", "ignore", "ignore", ...channels] as const;
    const child = spawn(command, args, { env: { ...env, ...isolated!.env }, cwd: folder, stdio: [...stdio] });
    attach(child);
    await once(child, "exit");
  };
  const planned = (...named: string[]) =>
    planMounts(program([]), limits(named)).filter(({ held }) => held !== undefined);
  return { home, place, run, runListed, planned };
}

test.skipIf(isMissing)(
  "T7: a server replaces the file that its config names, and writes no other of the home",
  async () => {
    const { home, place, run } = openHome();
    writeFileSync(place("memory.json"), "old");
    const before = readdirSync(home);
    const said = await run(
      `cat ~/memory.json ~/Documents/a.txt ~/.bashrc
     echo new > ~/draft && mv ~/draft ~/memory.json && cat ~/memory.json
     echo evil > ~/.bash_profile; echo evil >> ~/.bashrc; echo evil > ~/Documents/b; rm -rf ~/.bashrc ~/.ssh
     mv ~/Documents ~/Other; cat ~/.ssh/id_rsa ~/link/id_rsa ~/.cursor/mcp.json`,
      "~/memory.json",
    );
    expect(said).toMatch(/^oldhellotruenew\n/);
    expect(said).not.toContain("PLANTED");
    expect(readFileSync(place("memory.json"), "utf8")).toBe("new\n");
    expect(readdirSync(home).filter((name) => !before.includes(name))).toEqual([".cache", ".local"]);
    expect(readFileSync(place(".bashrc"), "utf8")).toBe("true");
    expect(readdirSync(place("Documents"))).toEqual(["a.txt"]);
    expect(readdirSync(place(".local/state/keyhole/held"))).toEqual([]);
  },
);

test.skipIf(isMissing)(
  "T7: a file that is not there yet can be made, and one that the server removes is gone",
  async () => {
    const { place, run } = openHome();
    await run("echo one > ~/memory.jsonl; sleep 0.3", "--file=~/memory.jsonl");
    expect(readFileSync(place("memory.jsonl"), "utf8")).toBe("one\n");
    await run("rm ~/memory.jsonl; sleep 0.3", "--file=~/memory.jsonl");
    expect(existsSync(place("memory.jsonl"))).toBe(false);
  },
);

test.skipIf(isMissing).each([
  ["a link to a key", "ln -sf ~/.ssh/id_rsa ~/memory.json"],
  ["a link by its way outside", 'rm ~/memory.json; ln -s "$HOME/.ssh/id_rsa" ~/memory.json'],
  ["a folder", "rm ~/memory.json; mkdir ~/memory.json"],
  ["a pipe", "rm ~/memory.json; mkfifo ~/memory.json"],
  ["a hard link to a file of the home", "ln -f ~/.bashrc ~/memory.json"],
  [
    "many changes at once",
    "for n in 1 2 3 4 5 6 7 8 9; do ln -sf ~/.ssh/id_rsa ~/memory.json; echo x > ~/d; mv ~/d ~/memory.json; done; ln -sf ~/.ssh/id_rsa ~/memory.json",
  ],
])(
  "T7: a server that puts something else in the place of its file changes nothing outside: %s",
  async (_, script) => {
    const { place, run } = openHome();
    writeFileSync(place("memory.json"), "old");
    const said = await run(
      `${script}; sleep 0.3; [ ! -f ~/memory.json ] || cat ~/memory.json`,
      "~/memory.json",
      "~/other.json",
    );
    expect(said).not.toContain("PLANTED");
    const outside = lstatSync(place("memory.json"), { throwIfNoEntry: false });
    expect(outside?.isFile() ?? true).toBe(true);
    if (outside) expect(readFileSync(place("memory.json"), "utf8")).toMatch(/^(?:old|x\n)$/);
    // The next start opens no key, whatever was left.
    expect(await run("cat ~/memory.json ~/.ssh/id_rsa", "~/memory.json")).not.toContain("PLANTED");
  },
);

test.skipIf(isMissing)(
  "T7: a server with a list of hosts saves its file, too, and leaves nothing behind",
  async () => {
    const { place, runListed } = openHome();
    await runListed("echo new > ~/d; mv ~/d ~/memory.json", "~/memory.json");
    expect(readFileSync(place("memory.json"), "utf8")).toBe("new\n");
    expect(readdirSync(place(".local/state/keyhole/held"))).toEqual([]);
  },
);

test.skipIf(isMissing)("T7: a named file of a private place is all of it that a server sees", async () => {
  const { place, run } = openHome();
  const said = await run(
    "ls -A ~/.cursor; echo new > ~/.cursor/d; mv ~/.cursor/d ~/.cursor/memory.json; echo x > ~/.cursor/rules.md",
    "~/.cursor/memory.json",
  );
  expect(said).toBe("");
  expect(readFileSync(place(".cursor/memory.json"), "utf8")).toBe("new\n");
  expect(readdirSync(place(".cursor")).sort()).toEqual(["mcp.json", "memory.json"]);
});

test("T7: databases, links, Keyhole's own folders and opened folders are not held", () => {
  const { home, place, planned } = openHome();
  symlinkSync(place("Documents/a.txt"), place("linked.txt"));
  expect(planned("~/notes.db", "~/linked.txt", "~/Documents/a.txt", "/etc/x.json", "/x.json")).toEqual([]);
  expect(planned("~", "~/memory.json")).toEqual([]);
  expect(planned("~/a.json", "~/b.md").map(({ path, held }) => [path, held?.names])).toEqual([
    [home, ["a.json", "b.md"]],
  ]);
});
