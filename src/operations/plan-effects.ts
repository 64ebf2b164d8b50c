import { z } from "zod";
import type { View } from "../access/view.ts";
import { toContentText } from "../render/content-text.ts";
import { LANES } from "../schema/entry.ts";
import { cutText } from "../util/cut-text.ts";
import { fieldsOf } from "../util/fields.ts";
import type { Json } from "../util/json.ts";
import { findUndo } from "./find-undo.ts";
import type { RunResult } from "./run-plan.ts";

const args = z.record(z.string(), z.unknown());

export const effectSchema = z.object({
  op: z.string(),
  lane: z.enum(LANES),
  args,
  state: z.enum(["done", "failed", "unknown", "planned", "not_done"]),
  /** The result of the dry run, or the problem. */
  says: z.unknown().optional(),
  undo: z.object({ op: z.string(), args }).optional(),
});
export type ShownEffect = z.output<typeof effectSchema>;

const SAYS_CHARS = 300;
const ARGS_CHARS = 600;
const MOST_LINES = 40;

/** The effects of a run as its answer has them: what was done, with the way back, and what was not. */
export function toShownEffects(
  { performance, left = [] }: RunResult,
  view: View,
): { effects: ShownEffect[]; notDone: ShownEffect[] } {
  const effects = (performance?.effects ?? []).map((effect): ShownEffect => {
    const { op, lane, args: given, state, value } = effect;
    const undo = state === "done" ? findUndo(effect, value, view) : undefined;
    return {
      ...{ op, lane, args: { ...given }, state },
      ...(state !== "done" && { says: value }),
      ...(undo && { undo: { op: undo.op, args: { ...undo.args } } }),
    };
  });
  const notDone = left.map(
    ({ op, lane, args: given }): ShownEffect => ({ op, lane, args: { ...given }, state: "not_done" }),
  );
  return { effects, notDone };
}

/** Writes the effects for a model: those of a success in one line, those of a plan or a failure one by one. */
export function effectsText(
  effects: readonly ShownEffect[],
  notDone: readonly ShownEffect[],
  failed: boolean,
): string[] {
  const isPlan = effects.some(({ state }) => state === "planned");
  if (effects.length + notDone.length === 0) return failed ? ["Nothing was changed."] : [];
  if (!failed && !isPlan) return [`Done: ${countOps(effects)}.`];
  const all = [...effects, ...notDone];
  const lines = all.slice(0, MOST_LINES).map(effectLine);
  const more =
    all.length > lines.length
      ? [`and ${all.length - lines.length} more: ${countOps(all.slice(MOST_LINES))}`]
      : [];
  return ["Effects:", ...lines, ...more];
}

function effectLine({ op, args: given, state, lane, says, undo }: ShownEffect, index: number): string {
  const mark = lane === "destructive" ? " [destructive]" : "";
  const told = says === undefined ? "" : `: ${cutText(saysText(state, says), SAYS_CHARS)}`;
  const back = undo ? ` (undo: ${undo.op} ${cutText(JSON.stringify(undo.args), SAYS_CHARS)})` : "";
  const name = state === "not_done" ? "not done" : state;
  return `${index + 1}. ${name} ${op} ${cutText(JSON.stringify(given), ARGS_CHARS)}${mark}${told}${back}`;
}

/** The problem of a call without its details, which its error has in full. */
function saysText(state: ShownEffect["state"], says: unknown): string {
  const { code, message } = fieldsOf(says);
  return state === "failed" && code !== undefined ? `${code}: ${message}` : toContentText(says as Json);
}

function countOps(effects: readonly ShownEffect[]): string {
  const counts = Map.groupBy(effects, ({ op, state }) => (state === "done" ? op : `${op} (${state})`));
  return [...counts].map(([op, { length }]) => (length > 1 ? `${op} ×${length}` : op)).join(", ");
}
