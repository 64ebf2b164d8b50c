import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { showProgram } from "../../src/core/access/consents.ts";
import { deniedPaths, proposeLimits } from "../../src/sources/isolation/propose-limits.ts";
import { isolationMissing } from "../bubblewrap.ts";
import { agree, openProgram } from "./program.ts";

const isMissing = (await isolationMissing()) !== undefined;
const QUIET = { annotations: { openWorldHint: false }, inputSchema: {} };
const home = "/home/me";

function proposalFor(
  { command = "server", args = [], env = {} }: { command?: string; args?: string[]; env?: object },
  tools: readonly Record<string, unknown>[] = [],
  touched: { hosts?: string[]; paths?: string[] } = {},
) {
  const program = { command, args, env: { HOME: home, ...env }, cwd: home };
  const isolation = { open: [], hidden: [], network: "all" as const };
  const texts = [...args, ...(Object.values(env) as string[])];
  return proposeLimits({ program, isolation, texts }, tools, { hosts: [], paths: [], ...touched });
}

test.each([
  ["nothing is known", {}, [{}], {}, "all"],
  ["every tool says that it reaches nobody", {}, [QUIET, QUIET], {}, "none"],
  ["one tool does not say it", {}, [QUIET, {}], {}, "all"],
  ["it asked for hosts", {}, [QUIET], { hosts: ["a.example.com"] }, ["a.example.com"]],
  [
    "its config names one",
    { env: { URL: "https://u:p@B.example.com:8443/x" } },
    [{}],
    {},
    ["b.example.com:8443"],
  ],
  ["a package manager asked", { command: "/usr/bin/npx" }, [{}], { hosts: ["packages.example.com"] }, "all"],
  [
    "a tool takes addresses",
    {},
    [{ inputSchema: { properties: { url: {} } } }],
    { hosts: ["a.example.com"] },
    "all",
  ],
  ["a database is named", { env: { DB: "postgres://db.example.com/x" } }, [QUIET], {}, "all"],
  ["a service of this machine is named", { args: ["http://localhost:3000"] }, [QUIET], {}, "all"],
] as const)("T7: the proposed network if %s", (_, program, tools, touched, network) => {
  const given = structuredClone({ program, tools, touched }) as unknown as Parameters<typeof proposalFor>;
  const [first, second, third] = Object.values(given) as Parameters<typeof proposalFor>;
  expect(proposalFor(first, second, third).network).toEqual(network);
});

test("T7: denied paths and paths of a script are proposed, private places never", () => {
  const said = `Error: EROFS: read-only file system, mkdir '${home}/.notes'
PermissionError: [Errno 13] Permission denied: '${home}/data/x.db'
sh: 1: cannot create ${home}/log.txt: Read-only file system
Error: EACCES: permission denied, open '${home}/.ssh/id_ed25519'`;
  const paths = deniedPaths(said);
  expect(paths).toContain(`${home}/.ssh/id_ed25519`);
  const script = { command: "/bin/sh", args: ["-c", `cd ~/work && exec server --db=${home}/a.db`] };
  const { folders } = proposalFor(script, [], { paths });
  expect(folders).toEqual(
    expect.arrayContaining([`${home}/.notes`, `${home}/data/x.db`, `${home}/work`, `${home}/a.db`]),
  );
  expect(folders?.join()).not.toContain(".ssh");
});

test("T7: a person is told that a script hides its paths from the sandbox", () => {
  const runs = { command: "sh", args: ["-c", "server > /data/log"], cwd: "/", env: {} };
  const program = { label: "one", hash: "", identity: "" };
  expect(showProgram({ ...program, runs }).join("\n")).toContain('"sandbox": { "folders": ["PATH"] }');
  const named = { ...runs, sandbox: { folders: ["/data"] } };
  expect(showProgram({ ...program, runs: named }).join("\n")).not.toContain("PATH");
});

test.skipIf(isMissing)(
  "T7: limits that a person accepts with an approval count from the next call on",
  async () => {
    const program = openProgram();
    const data = join(program.folder, "data");
    mkdirSync(data);
    writeFileSync(join(data, "a.txt"), "x");
    const file = resolve("node_modules/@modelcontextprotocol/server-filesystem/dist/index.js");
    const files = { command: process.execPath, args: [file, data] };
    const config = program.write("mcp.json", { mcpServers: { files } });
    await agree(program, "files", "--config", config);
    const { out } = await program.keyhole("approve", "files", "--config", config);
    expect(out).toContain("reaches  no host");
    expect(out).toContain("because  it says of each tool that it reaches nobody");
    const accepted = await agree(program, "files", "--config", config);
    expect(accepted.out).toContain("files keeps to this sandbox from its next call on.");
    const shown = await program.keyhole("servers", "files", "--config", config);
    expect(shown.out).toContain("reaches  no host");
    // Nothing is proposed that is accepted.
    expect((await program.keyhole("approve", "files", "--config", config)).out).not.toContain("could be");
  },
);
