// A gateway whose tools write notes into a file. As a program, it performs a plan and kills itself on the way.
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  createGateway,
  createSqliteSessionStore,
  defineDomain,
  defineTool,
  type Gateway,
  type SessionStore,
} from "keyhole";
import { createEmbeddedIndex } from "keyhole/search";
import { z } from "zod";

/** Adds every note, and after a doubtful one looks whether it is there. */
export const NOTES_CODE = `
  for (const name of params.names) {
    try { await tools.notes.line.add({ name }); }
    catch (error) {
      if (error.code !== "EFFECT_UNKNOWN") throw error;
      if (!(await tools.notes.line.list()).includes(name)) await tools.notes.line.add({ name });
    }
  }
  const lines = await tools.notes.line.list();
  return params.names.every((name) => lines.includes(name));`;

export function createNotes(
  file: string,
  sessions: SessionStore,
  onStep: (step: string) => Promise<void> = async () => {},
): Gateway {
  const read = () => (existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : []);
  const notes = defineDomain({
    name: "notes",
    description: "Notes.",
    tools: [
      defineTool({ name: "list_lines", op: "notes.line.list", description: "List notes.", execute: read }),
      defineTool({
        name: "add_line",
        op: "notes.line.add",
        description: "Add a note.",
        lane: "write",
        inputSchema: z.object({ name: z.string() }),
        execute: async ({ name }) => {
          await onStep(`before ${name}`);
          appendFileSync(file, `${name}\n`);
          await onStep(`after ${name}`);
          return { name };
        },
      }),
    ],
  });
  const principal = { id: "writer", scopes: [], allowWrite: true };
  return createGateway({ domains: [notes], principal, sessions, index: createEmbeddedIndex() });
}

if (import.meta.main) {
  const [, , folder = "", plan = ""] = process.argv;
  const kill = readFileSync(join(folder, "kill"), "utf8");
  const sessions = await createSqliteSessionStore(join(folder, "state.db"));
  const gateway = createNotes(join(folder, "notes.txt"), sessions, async (step) => {
    if (step === kill) process.kill(process.pid, "SIGKILL");
  });
  await gateway.run({ plan });
}
