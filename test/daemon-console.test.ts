import { expect, test } from "vitest";
import { openConsole } from "./console/console-kit.ts";
import { chaos, openProgram } from "./threats/program.ts";

test("keyhole serve --console opens the console of a gateway that the daemon serves", async () => {
  const program = openProgram();
  expect((await program.keyhole("serve", "--console")).out).toMatch(/^The daemon serves no client now/);
  const config = program.write("mcp.json", { mcpServers: { chaos: chaos() } });
  const call = await program.serve("--trust", "--allow-write", "--config", config);
  expect(await call("exec", { op: "chaos.add", args: { sum: 1 } })).toContain('"sum":1');
  const { out } = await program.keyhole("serve", "--console");
  const [, named, link = ""] = /^(.*), opens once: (http:\S+)$/m.exec(out) ?? [];
  expect(named).toBe(config);
  const person = await openConsole(link);
  expect(await person.json("/api/upstreams")).toMatchObject({
    upstreams: [{ label: "chaos", state: "connected" }],
  });
  expect(await person.json("/api/audit?entry=chaos.add")).toMatchObject({ records: [{ outcome: "ok" }] });
  // A link opens once; the command gives another.
  await expect(openConsole(link).then(({ send }) => send("/api/me"))).resolves.toMatchObject({ status: 401 });
  expect((await program.keyhole("serve", "--console")).out).not.toBe(out);
});
