import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { createPermissions } from "../../src/agent/permissions/permissions.ts";
import { CLIENTS } from "../../src/program/clients/clients.ts";
import { pathsIn } from "../../src/sources/isolation/isolation.ts";
import { planMounts } from "../../src/sources/isolation/mounts.ts";
import { PRIVATE_PLACES } from "../../src/sources/isolation/places.ts";
import { isolationMissing } from "../bubblewrap.ts";
import { openWorkspace } from "../open-workspace.ts";
import { setUpPermissions } from "../set-up-permissions.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { eventually } from "../upstream-kit.ts";
import { serveHostile } from "./hostile-server.ts";
import { agree, chaos, openProgram } from "./program.ts";

const isMissing = (await isolationMissing()) !== undefined;
const SECRET = "planted-3f9c1a";

function plant(path: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${SECRET}\n`);
  return path;
}

const IN_HOME = `.ssh/id_ed25519 .aws/credentials .gnupg/private-keys-v1.d/key .config/gcloud/credentials.db
  .config/gh/hosts.yml .kube/config .docker/config.json .netrc .npmrc .git-credentials .pgpass .bash_history
  .claude.json .claude/history.jsonl .codex/auth.json .cursor/mcp.json .config/Code/User/mcp.json
  .local/share/opencode/auth.json .mozilla/firefox/default/logins.json .config/google-chrome/Default/Cookies
  .local/share/keyrings/login.keyring .keyhole/sessions/one.jsonl .local/state/keyhole/planted .local/state/keyhole/results/planted.json
  .cache/keyhole/planted`.split(/\s+/);

async function listen(server: Server, where: string | { port: number; host: string }): Promise<void> {
  await new Promise<void>((done) => server.listen(where as never, () => done()));
  onTestFinished(() => void server.close());
}

test.skipIf(isMissing)(
  "T7: a hostile server reads none of the planted files and reaches no socket",
  async () => {
    const program = openProgram();
    const files = IN_HOME.map((place) => plant(join(program.home, place)));
    files.push(plant(join(temporaryFolder(), "agent.txt")));
    if (userInfo().uid === 0) {
      const other = `/home/keyhole-test-${process.pid}`;
      onTestFinished(() => rmSync(other, { recursive: true, force: true }));
      files.push(plant(join(other, "letter.txt")));
    }
    const socket = join(temporaryFolder(), "agent.sock");
    let reached = 0;
    await listen(
      createServer((peer) => {
        reached += 1;
        peer.destroy();
      }),
      socket,
    );
    const run = await serveHostile(program);
    for (const file of files) {
      const answer = await run(
        `cat '${file}'; ls -l '${file}'; cat '/proc/1/root${file}'; cat /proc/*/root'${file}'`,
      );
      expect(answer, file).not.toContain(SECRET);
    }
    expect(files.length).toBeGreaterThanOrEqual(25);
    const found = await run(`grep -rls ${SECRET} '${program.home}' /tmp /run 2>/dev/null; true`);
    expect(found).not.toContain(program.home);
    const script = `require('net').connect('${socket}').on('connect',()=>console.log('in')).on('error',()=>console.log('out'))`;
    expect(await run(`'${process.execPath}' -e "${script}"`)).toContain("out");
    expect(reached).toBe(0);
    // The approvals, secrets and address of the daemon, which are there outside.
    const state = join(program.home, ".local/state/keyhole");
    expect(existsSync(join(state, "daemon"))).toBe(true);
    expect(await run(`ls -A '${state}' '${join(program.home, ".keyhole")}'`)).not.toMatch(
      /approvals|daemon|sessions/,
    );
    expect(await run("cat /proc/*/environ /proc/*/cmdline | tr '\\0' '\\n'")).not.toContain("--daemon");
  },
);

test.skipIf(isMissing)(
  "T7: a hostile server writes its project alone, and no file that runs later",
  async () => {
    const program = openProgram();
    for (const place of [
      ".bashrc",
      ".profile",
      ".local/bin/git",
      ".config/autostart/x",
      "Documents/letter.txt",
    ])
      writeFileSync(plant(join(program.home, place)), "mine\n");
    const run = await serveHostile(program);
    expect(
      await run(
        `echo kept > '${join(program.folder, "out.txt")}'; echo x > /tmp/scratch && cat /tmp/scratch`,
      ),
    ).toContain("exit 0");
    expect(readFileSync(join(program.folder, "out.txt"), "utf8")).toBe("kept\n");
    expect(await run(`cat '${join(program.home, "Documents/letter.txt")}'`)).toContain("mine");
    for (const place of [
      ".bashrc",
      ".profile",
      ".local/bin/git",
      ".config/autostart/x",
      "Documents/letter.txt",
      "new.txt",
    ]) {
      const file = join(program.home, place);
      expect(await run(`echo evil > '${file}'`)).toMatch(/Read-only|exit 2/);
      expect(existsSync(file) ? readFileSync(file, "utf8") : "mine\n").toBe("mine\n");
    }
    expect(await run("echo evil > /usr/local/bin/keyhole-test; echo evil >> /etc/passwd")).toMatch(
      /Read-only/,
    );
    expect(await run("mount -t tmpfs none /mnt; umount /tmp; mknod /tmp/disk b 8 0")).not.toContain("exit 0");
  },
);

test.skipIf(isMissing)("T7: a server without network reaches no host, and one with it does", async () => {
  const program = openProgram();
  let reached = 0;
  const server = createServer((peer) => {
    reached += 1;
    peer.end("hello");
  });
  await listen(server, { port: 0, host: "127.0.0.1" });
  const { port } = server.address() as { port: number };
  const script = `require('net').connect(${port},'127.0.0.1').on('data',d=>console.log('got '+d)).on('error',e=>console.log('no way'))`;
  const closed = await serveHostile(program, { sandbox: { network: "none" } });
  expect(await closed(`'${process.execPath}' -e "${script}"`)).toContain("no way");
  expect(reached).toBe(0);
  const open = await serveHostile(openProgram());
  expect(await open(`'${process.execPath}' -e "${script}"`)).toContain("got hello");
});

test.skipIf(isMissing)("T7: paths that a person has named are open, but never Keyhole's own", async () => {
  const program = openProgram();
  const key = plant(join(program.home, ".ssh/deploy_key"));
  const other = plant(join(program.home, ".ssh/id_ed25519"));
  const data = join(temporaryFolder(), "data");
  mkdirSync(data);
  plant(join(program.home, ".keyhole/own.txt"));
  const run = await serveHostile(
    program,
    { sandbox: { folders: ["~/.aws", "~/.keyhole", "~"] }, env: { KEY: key } },
    `--data=${data}`,
  );
  expect(await run(`echo kept > '${data}/row' && cat '${key}' && touch '${program.home}/new'`)).toContain(
    SECRET,
  );
  expect(existsSync(join(program.home, "new"))).toBe(true);
  expect(await run(`cat '${join(program.home, ".keyhole/own.txt")}'`)).not.toContain(SECRET);
  expect(await run(`cat '${other}'`)).not.toContain(SECRET);
});

test.skipIf(isMissing)("T7: a program that cannot start is told as such", async () => {
  const program = openProgram();
  const plain = program.write("plain.txt", "x");
  chmodSync(plain, 0o600);
  const config = program.write("mcp.json", {
    mcpServers: {
      gone: { command: "keyhole-no-such-program" },
      plain: { command: plain },
      nowhere: { command: "sh", cwd: join(program.folder, "nowhere") },
      ends: { command: "sh", args: ["-c", "echo no key >&2; exit 7"] },
    },
  });
  const call = await program.serve("--trust", "--config", config);
  await eventually(async () => {
    const text = await call("ask", { query: "anything" });
    expect(text).toContain("keyhole-no-such-program was not found");
    expect(text).toContain("may not be run");
    expect(text).toContain("does not exist");
    expect(text).toContain("it exited with code 7; it said: no key");
  }, 20_000);
});

test.skipIf(isMissing)("T7: a command of the agent sees no private places", async () => {
  const { root, home } = setUpPermissions();
  plant(join(home, ".ssh/id_ed25519"));
  const own = plant(join(home, ".keyhole/settings.json"));
  const isolation = { open: [], hidden: [dirname(own)], network: "all" as const };
  const ask = async () => "once" as const;
  const permissions = createPermissions({ root, home, ask });
  const { shell } = openWorkspace({ permissions, isolation });
  vi.stubEnv("HOME", home);
  onTestFinished(() => void vi.unstubAllEnvs());
  const command = `cat ~/.ssh/id_ed25519 ~/.keyhole/settings.json; echo mine > made.txt; echo evil > ~/.bashrc; sleep 0.1`;
  const answer = await shell({ command });
  expect(answer).toMatchObject({ success: true });
  expect(JSON.stringify(answer)).not.toContain(SECRET);
  expect(readFileSync(join(root, "made.txt"), "utf8")).toBe("mine\n");
  expect(existsSync(join(home, ".bashrc"))).toBe(false);
});

test("T7: the configs of every client are private places", () => {
  const home = "/home/me";
  const machine = { home, platform: "linux" as const, env: {}, project: "/work" };
  const configs = CLIENTS.flatMap((client) => client.places(machine).map(({ path }) => path));
  const inHome = configs.filter((path) => path.startsWith(`${home}/`));
  expect(inHome.length).toBeGreaterThan(10);
  const isPrivate = (path: string) =>
    PRIVATE_PLACES.some((place) => `${path}/`.startsWith(`${home}/${place}/`));
  expect(inHome.filter((path) => !isPrivate(path))).toEqual([]);
});

test("T21: a changed sandbox waits for approval", async () => {
  const program = openProgram();
  const server = chaos();
  const config = program.write("mcp.json", { mcpServers: { one: server } });
  expect(await agree(program, "one", "--config", config)).toMatchObject({ code: 0 });
  const listed = async () => (await program.keyhole("approve", "--config", config)).out;
  expect(await listed()).not.toContain("waits for your approval to start");
  program.write("mcp.json", { mcpServers: { one: { ...server, sandbox: false } } });
  expect(await listed()).toContain("sandbox  none: it sees and reaches everything that you can");
  program.write("mcp.json", { mcpServers: { one: { ...server, sandbox: { folders: ["~/.ssh"] } } } });
  expect(await listed()).toContain("may use  ~/.ssh");
});

test("T7: a named file opens its folder, unless that is a home or private", () => {
  const home = temporaryFolder();
  const folder = temporaryFolder();
  for (const place of [
    "docs/notes.db",
    ".ssh/key",
    "top.db",
    ".keyhole/x",
    ".cache/keyhole/y",
    "code/index.js",
  ])
    plant(join(home, place));
  const named = ["docs/notes.db", ".ssh/key", "top.db", ".keyhole/x", "code/index.js", "docs/later.db"];
  const open = pathsIn(
    named.map((place) => `--x=~/${place}`),
    folder,
    home,
  );
  const program = { command: "sh", args: [], env: { HOME: home, PATH: "/bin" }, cwd: home };
  const hidden = [join(home, ".keyhole"), join(home, ".cache/keyhole")];
  const mounts = planMounts(program, { open, hidden, network: "all" });
  const shown = mounts
    .filter(({ path }) => path.startsWith(home))
    .map(({ path, access }) => `${access} ${path.slice(home.length)}`);
  expect(shown.sort()).toEqual([
    "empty /.cache/keyhole",
    "empty /.keyhole",
    "empty /.ssh",
    "read ",
    "write /.cache",
    "write /.ssh/key",
    "write /docs",
    "write /top.db",
  ]);
});

test("T7: a program of the system that an argument names is not opened for writing", () => {
  const folder = temporaryFolder();
  const program = { command: "sh", args: [], env: { HOME: folder, PATH: "/bin" }, cwd: folder };
  const open = ["/usr/bin/env", "/etc/passwd"];
  const mounts = planMounts(program, { open, hidden: [], network: "all" });
  expect(mounts.filter(({ path, access }) => access === "write" && /^\/(?:usr|etc)/.test(path))).toEqual([]);
});

test("T7: code that an argument names by a link without an ending can be read, and the folder of the link cannot be written", () => {
  const folder = temporaryFolder();
  const modules = join(folder, "node_modules");
  mkdirSync(join(modules, ".bin"), { recursive: true });
  mkdirSync(join(modules, "notes-server"));
  writeFileSync(join(modules, "notes-server", "index.js"), "");
  const link = join(modules, ".bin", "notes-server");
  symlinkSync("../notes-server/index.js", link);
  const home = temporaryFolder();
  const program = { command: process.execPath, args: [link], env: { HOME: home }, cwd: home };
  const mounts = planMounts(program, { open: pathsIn([link], home, home), hidden: [], network: "all" });
  expect(mounts).toContainEqual({ path: modules, access: "read" });
  expect(mounts.filter(({ access, path }) => access === "write" && path.startsWith(folder))).toEqual([]);
});
