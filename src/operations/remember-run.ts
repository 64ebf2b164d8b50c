import type { Entry } from "../schema/entry.ts";
import {
  discover,
  keepResult,
  meet,
  type ToolUse,
  unveil,
  use,
  type WorkingMemory,
} from "../session/working-memory.ts";
import { addressOf, type OperationContext } from "./operation.ts";
import type { Outcome } from "./run-entry.ts";

type Remembering = Pick<OperationContext, "session" | "extractor">;
type Remembered = Pick<Outcome, "value" | "guidance" | "stored">;

/** What a run leaves in the session. One that ran dry has only led somewhere. */
export function rememberRun(
  entry: Entry,
  { session, extractor }: Remembering,
  { value, guidance, stored }: Remembered,
  dry: boolean,
): void {
  if (!session) return;
  const routes = guidance.map(({ route }) => route);
  if (dry) {
    session.update((memory) => unveil(memory, routes));
    return;
  }
  const now = new Date();
  const entities = entry.kind === "tool" ? extractor.extract(entry, value, now) : [];
  session.update((memory) => {
    const used = useEntry(memory, entry, "success", now);
    const met = entities.length > 0 ? meet(used, entities) : used;
    const unveiled = unveil(met, routes);
    return stored ? keepResult(unveiled, { handle: stored.handle, name: addressOf(entry) }) : unveiled;
  });
}

export function rememberFailure(entry: Entry, { session }: Pick<Remembering, "session">): void {
  session?.update((memory) => useEntry(memory, entry, "error", new Date()));
}

/** What was used is known, however it came to be. */
function useEntry(
  memory: WorkingMemory,
  entry: Entry,
  result: ToolUse["lastResult"],
  at: Date,
): WorkingMemory {
  const name = addressOf(entry);
  const known = entry.kind === "resource" ? memory : discover(memory, [name]);
  return use(known, { name, result, at });
}
