import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Person } from "./lab-client.ts";
import { DONE } from "./script.ts";
import { openTerminal } from "./terminal.ts";

export interface PersonRun {
  /** Zero if the conversation came to its end. */
  readonly code: number | null;
  readonly output: string;
  /** The screens on which the person answered Keyhole's questions, in their order. */
  readonly forms: readonly string[];
}

/** The surroundings of the person: the folder, the variables, the words to type, and the record of the server. */
interface Place {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly prompt: string;
  readonly log: string;
}

/** The person looks at the screen this often, and needs a moment to press the next key. */
const LOOK_MS = 300;
const AGAIN_MS = 3_000;
const DEADLINE_MS = 240_000;
const QUESTION = /Run books\.close_books with \{"quarter":"(Q\d)"\}\?/;

/** Plays the person in front of a client: types the prompt, accepts Keyhole's first question, declines the second. */
export async function runWithPerson(
  command: readonly string[],
  { screens = [], ready, accept, decline }: Person,
  { folder, env, prompt, log }: Place,
): Promise<PersonRun> {
  const terminal = openTerminal(command, { folder, env });
  const until = Date.now() + DEADLINE_MS;
  const answered = new Map<string, string>();
  /** The next time to press the keys of a screen that is still there: keys that come too early are lost. */
  const again = new Map<string, number>();
  let hasTyped = false;
  try {
    while (Date.now() < until && !terminal.hasEnded()) {
      await sleep(LOOK_MS);
      const screen = terminal.screen();
      const question = QUESTION.exec(screen)?.[1];
      const other = screens.find(({ sees }) => screen.includes(sees));
      if (hasTyped && screen.includes(DONE))
        return { code: 0, output: screen, forms: [...answered.values()] };
      if (question !== undefined) {
        if (Date.now() < (again.get(question) ?? 0)) continue;
        const keys = answered.size === 0 || answered.keys().next().value === question ? accept : decline;
        const before = answered.get(question);
        answered.set(question, before ?? screen);
        again.set(question, Date.now() + AGAIN_MS);
        // A choice that has moved is there already; only the key that confirms it was lost.
        const hasMoved = before !== undefined && formOf(before) !== formOf(screen);
        for (const key of hasMoved ? keys.slice(-1) : keys) {
          await sleep(LOOK_MS);
          terminal.press(key);
        }
      } else if (other) {
        if (Date.now() < (again.get(other.sees) ?? 0)) continue;
        again.set(other.sees, Date.now() + AGAIN_MS);
        terminal.press(...other.press);
      } else if (!hasTyped && (ready === undefined ? isListed(log) : screen.includes(ready))) {
        // A client draws its input before it takes keys.
        await sleep(10 * LOOK_MS);
        const late = terminal.screen();
        if (screens.some(({ sees }) => late.includes(sees))) continue;
        terminal.type(prompt);
        await sleep(LOOK_MS);
        terminal.press("Enter");
        hasTyped = true;
      }
    }
    return { code: null, output: terminal.screen(), forms: [...answered.values()] };
  } finally {
    terminal.close();
  }
}

/** The form on a screen, without what moves above it. */
function formOf(screen: string): string {
  return screen.slice(screen.search(QUESTION));
}

/** Clients start their servers beside the first screen, and a model is not told of tools that come late. */
function isListed(log: string): boolean {
  return existsSync(log) && /"from":"server".*"tools":\[/.test(readFileSync(log, "utf8"));
}
