import type { Entry } from "../schema/entry.ts";
import { needsEntry } from "../session/needs.ts";
import {
  discover,
  meet,
  noteRead,
  type ToolUse,
  unveil,
  use,
  type WorkingMemory,
} from "../session/working-memory.ts";
import { addressOf } from "../util/address-of.ts";
import type { CallEnvironment } from "./call-environment.ts";
import type { EntryRun } from "./entry-run.ts";
import { marksOf } from "./read-first.ts";

type Remembering = Pick<CallEnvironment, "session"> & {
  readonly services: Pick<CallEnvironment["services"], "extractor">;
};

/** How an entry runs, and with which args. */
export interface RunOptions {
  readonly dry: boolean;
  readonly args: Readonly<Record<string, unknown>>;
}

/** Records a run in the session: the entry used, entities met, routes unveiled. A dry run records only the routes. */
export function rememberRun(
  entry: Entry,
  { session, services }: Remembering,
  { value, guidance }: Pick<EntryRun, "value" | "guidance">,
  { dry, args }: RunOptions,
): void {
  if (!session) return;
  const routes = guidance.map(({ route }) => route);
  if (dry) {
    session.update((memory) => unveil(memory, routes));
    return;
  }
  const now = new Date();
  const found = entry.kind === "tool" ? services.extractor.extract(entry, value, now) : [];
  const needs = needsEntry(entry);
  const entities = found.map((entity) => ({ ...entity, needs }));
  const marks = marksOf(entry, args, value);
  session.update((memory) => {
    const used = useEntry(memory, entry, "success", now);
    const met = entities.length > 0 ? meet(used, entities) : used;
    return unveil(noteRead(met, marks), routes);
  });
}

export function rememberFailure(entry: Entry, { session }: Pick<Remembering, "session">): void {
  session?.update((memory) => useEntry(memory, entry, "error", new Date()));
}

/** A used entry counts as discovered. */
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
