import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { verifies } from "./claims.ts";
import { chaos, openProgram } from "./threats/program.ts";
import { eventually, processesWith } from "./upstream-kit.ts";

verifies(
  "daemon:crash",
  "the program outlives a killed daemon, ends the servers that it left, and leaves nothing after a stop",
  async () => {
    const program = openProgram();
    const word = `KILLED_${process.pid}`;
    const called = join(program.home, "called.txt");
    const server = chaos({ [word]: "1", CHAOS_LOG: called });
    const config = program.write("mcp.json", { mcpServers: { chaos: server } });
    const call = await program.serve("--trust", "--allow-write", "--config", config);
    const daemonOf = async () => JSON.parse((await program.keyhole("servers", "--json")).out).daemon;
    expect(await call("exec", { op: "chaos.add", args: { sum: 1 } })).toContain('"sum":1');
    const first = await daemonOf();
    expect(first).toMatchObject({ clients: 1, configs: 1, servers: 1 });
    expect(processesWith(`${word}=`)).toHaveLength(1);

    const lost = call("exec", { op: "chaos.hang", args: {} });
    // A call that has not reached the daemon when it ends is sent to the next one.
    await eventually(() => expect(readFileSync(called, "utf8")).toContain("hang"));
    process.kill(first.pid, "SIGKILL");
    expect(await lost).toContain("DAEMON_LOST");
    expect(await call("exec", { op: "chaos.add", args: { sum: 2 } })).toContain('"sum":2');
    await eventually(() => expect(processesWith(`${word}=`)).toHaveLength(1));

    const stopped = await program.keyhole("serve", "--stop");
    expect(stopped.out).toMatch(/^Stopping: Keyhole/);
    await eventually(() => expect(processesWith(`${word}=`)).toEqual([]));
    await eventually(async () => expect(await daemonOf()).toBe(null));
    expect((await program.keyhole("serve", "--stop")).out).toBe("No daemon runs.\n");
  },
);
