import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished } from "vitest";
import { verifies } from "../claims.ts";
import { programEnv } from "../program-env.ts";
import { connect, issuerOf, linkIn, logIn, SEAL_KEY, startTracker } from "../team/login-kit.ts";
import { MAIN, openProgram, type Program } from "../threats/program.ts";
import { eventually } from "../upstream-kit.ts";

const env = { KEYHOLE_SEAL_KEY: SEAL_KEY };
// biome-ignore lint/suspicious/noTemplateCurlyInString: filled in by the program.
const sealKey = "${KEYHOLE_SEAL_KEY}";

/** Serves a config over HTTP. Returns the address, and a way to end it. */
async function serve({ home, folder }: Program, config: string) {
  const child = spawn(process.execPath, [MAIN, "serve", "--http", "--trust", "--config", config], {
    cwd: folder,
    env: { ...programEnv(home), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let printed = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      printed += chunk;
    });
  await expect.poll(() => printed, { timeout: 30_000 }).toContain("Console, opens once: ");
  const url = /listens at (\S+)/.exec(printed)?.[1] ?? "";
  const close = async () => {
    child.kill("SIGTERM");
    await once(child, "close");
  };
  return { url, close };
}

verifies(
  "upstream:people",
  "agents with keys of their own log in by links at keyhole serve --http, and stay so after a restart",
  async () => {
    const issuer = await issuerOf();
    const tracker = await startTracker(issuer);
    const program = openProgram({ env });
    const mcpServers = { tracker: { url: tracker.url, login: "person" } };
    const config = program.write("mcp.json", { sealKey, mcpServers });
    const keyOf = async (name: string) =>
      /shown once: (\S+)/.exec((await program.keyhole("agents", "add", name)).out)?.[1] ?? "";
    const keys = { ann: await keyOf("ann"), bob: await keyOf("bob") };
    const first = await serve(program, config);
    for (const name of ["ann", "bob"] as const) {
      const mine = await connect(first.url, keys[name]);
      const op = name === "ann" ? "tracker.log_in" : "tracker.whoami";
      await logIn(linkIn(await mine.call("exec", { op })), issuer, name);
      await eventually(async () => expect(await mine.whoami()).toContain(`You are ${name}`));
    }
    await first.close();
    const second = await serve(program, config);
    for (const name of ["ann", "bob"] as const) {
      const mine = await connect(second.url, keys[name]);
      await eventually(async () => expect(await mine.whoami()).toContain(`You are ${name}`));
    }
    const { out } = await program.keyhole("servers", "tracker", "--config", config);
    expect(out).toContain("acts as  each person, who logs in there");
    expect(out).not.toContain(SEAL_KEY);
  },
);

verifies(
  "upstream:people",
  "a shared login is marked, and people's logins need a key to seal them",
  async () => {
    const program = openProgram();
    const url = "http://127.0.0.1:9/mcp";
    const shared = program.write("shared.json", { mcpServers: { tracker: { url } } });
    const { out } = await program.keyhole("approve", "--config", shared);
    expect(out).toContain("acts as  one login, which all who use this gateway share");
    const open = program.write("open.json", { mcpServers: { tracker: { url, login: "person" } } });
    const refused = await program.keyhole("servers", "--config", open);
    expect([refused.code, refused.errors]).toEqual([
      1,
      expect.stringContaining('set "sealKey" in the config'),
    ]);
    const unset = program.write("unset.json", { sealKey, mcpServers: { tracker: { url, login: "person" } } });
    const missing = await program.keyhole("servers", "--config", unset);
    expect(missing.errors).toContain("the variable KEYHOLE_SEAL_KEY is not set");
    const short = program.write("short.json", { sealKey: "short", mcpServers: {} });
    expect((await program.keyhole("servers", "--config", short)).errors).toContain(
      "fewer than 16 characters",
    );
  },
);
