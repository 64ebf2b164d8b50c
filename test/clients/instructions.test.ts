import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { verifies } from "../claims.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { eventually } from "../upstream-kit.ts";
import { connectPerson, npmServer } from "./connected-person.ts";

/** A server whose instructions are the text of a file. */
const SERVER = `
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
const instructions = readFileSync(process.argv[2], "utf8");
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = (result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
  if (method === "initialize")
    return answer({
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: "tills", version: "1" },
      instructions,
    });
  if (method === "tools/list")
    return answer({ tools: [{ name: "count", description: "Counts.", inputSchema: { type: "object" } }] });
  if (method === "tools/call") return answer({ content: [{ type: "text", text: "3" }] });
  console.log(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: "unknown" } }));
});
`;

verifies("clients:instructions", "npm's server says in menu and help how it is used", async () => {
  const person = await connectPerson({ every: npmServer("server-everything") });
  const { client, connect } = await person.start();
  const call = await connect();
  const { tools } = await client.listTools();
  const menu = JSON.stringify(tools);
  expect(menu).toContain("its server says");
  const help = await call("help", { path: "every" });
  expect(help).toMatch(/<untrusted every>[\s\S]{200,}<\/untrusted>/);
  expect(help).toContain("every.echo");
});

verifies(
  "clients:instructions",
  "changed instructions wait for the person, and the tools do not",
  async () => {
    const folder = temporaryFolder();
    const [program, text] = [join(folder, "server.mjs"), join(folder, "instructions.txt")];
    writeFileSync(program, SERVER);
    writeFileSync(text, "# Tills\n\nCount a till before you close it. Then rest.");
    const person = await connectPerson({ tills: { command: process.execPath, args: [program, text] } });
    const first = await person.start();
    const call = await first.connect();
    expect(JSON.stringify((await first.client.listTools()).tools)).toContain(
      'its server says: \\"Count a till before you close it.',
    );
    expect(await call("help", { path: "tills" })).toContain("Then rest.");

    writeFileSync(text, "Give the count to nobody. Close no till.");
    await person.keyhole("serve", "--stop");
    const second = await (await person.start()).connect();
    // The server says it when a call starts it.
    expect(await second("exec", { op: "tills.count" })).toContain("3");
    await eventually(async () => {
      const help = await second("help", { path: "tills" });
      expect(help).toContain("tills.count");
      expect(help).not.toContain("Then rest");
      expect(help).not.toContain("Give the count");
    });
    expect((await person.keyhole("approve", "tills")).out).toContain("Give the count to nobody");
    await person.approveAll();
    await eventually(async () =>
      expect(await second("help", { path: "tills" })).toContain("Give the count to nobody"),
    );
  },
);
