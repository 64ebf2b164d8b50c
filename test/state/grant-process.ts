// Changes approvals as a command of its own would. Arguments: what to do, the file, its own name.
import { closeSync, openSync } from "node:fs";
import { createConsents } from "../../src/core/access/consents.ts";
import { type GrantKind, openGrantsNow } from "../../src/core/access/grants.ts";
import type { ServerProgram } from "../../src/core/nouns/server-program.ts";
import { openRecordFile } from "../../src/core/storage/record-file.ts";
import { createAgentTokens } from "../../src/program/open/agent-tokens.ts";

export const CHANGES = 150;
export const KEY_EVERY = 10;
export const grantsIn = <K extends GrantKind>(path: string, kind: K) =>
  openGrantsNow(openRecordFile(path), kind);
export const consentsIn = (path: string) => createConsents(grantsIn(path, "program"));
export const programOf = (hash: string) => ({ label: "files", hash }) as ServerProgram;

const codeOf = (error: unknown) => (error as { code?: string }).code;

const TASKS: Record<string, (path: string, name: string) => Promise<unknown>> = {
  /** Gives and revokes 150 consents each, in turns. Keys that both writers want to make are made by one of them. */
  write: async (path, name) => {
    const consents = consentsIn(path);
    const tokens = createAgentTokens(grantsIn(path, "agent"));
    const added: string[] = [];
    for (let number = 0; number < CHANGES; number += 1) {
      await consents.give([programOf(`new ${name} ${number}`)]);
      await consents.revoke([programOf(`old ${name} ${number}`)]);
      if (number % KEY_EVERY > 0) continue;
      const agent = { name: `both-${number}`, scopes: [name], allowWrite: false };
      if ((await tokens.add(agent)) !== undefined) added.push(agent.name);
    }
    return added;
  },
  /** Opens files until none is free. */
  exhaust: async (path) => {
    const consents = consentsIn(path);
    const open: number[] = [];
    try {
      for (;;) open.push(openSync("/dev/null", "r"));
    } catch {}
    const late = consentsIn(path);
    const asked = [consents, late].map((one) => {
      try {
        return one.isGiven(programOf("given"));
      } catch (error) {
        return codeOf(error);
      }
    });
    const refused = await consents.give([programOf("later")]).catch(codeOf);
    const giving = consents.give([programOf("passing")]);
    for (const file of open) closeSync(file);
    await giving;
    const now = ["given", "later", "passing"].map((hash) => late.isGiven(programOf(hash)));
    return { asked, refused, damage: grantsIn(path, "program").damage ?? null, now };
  },
  /** Looks at a file that its user may not read. */
  forbidden: async (path) => {
    const given = await consentsIn(path)
      .give([programOf("other")])
      .catch(codeOf);
    const grants = grantsIn(path, "program");
    return { entries: grants.entries().size, given, damage: grants.damage };
  },
};

const [word = "", path = "", name = ""] = process.argv.slice(2);
const task = TASKS[word];
// The tests import this file too.
if (task) process.send?.({ done: await task(path, name) }, () => process.disconnect?.());
