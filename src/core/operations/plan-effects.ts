import { z } from "zod";
import { cutText } from "../../base/util/cut-text.ts";
import type { Json } from "../../base/util/json.ts";
import { fieldsOf, listOf } from "../../base/util/plain-object.ts";
import { undoingVerbs } from "../../search/analysis/tool-verbs.ts";
import type { View } from "../access/view.ts";
import { toContentText } from "../answers/content.ts";
import { isSimulated } from "../calls/make-call.ts";
import { type Entry, LANES, type UndoStep } from "../nouns/entry.ts";
import type { Effect } from "./plan.ts";
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

/** The effects of a run for its answer: those done, with a way to undo them, and those not done. */
export function toShownEffects(
  { performance, left = [] }: RunResult,
  view: View,
): { effects: ShownEffect[]; notDone: ShownEffect[] } {
  const effects = (performance?.calls.effects ?? []).map((effect): ShownEffect => {
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

/** Formats the effects for a model: a success in one line, a plan or a failure one by one. */
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
  const saying =
    says === undefined || isSimulated(says as Json) ? "" : `: ${cutText(saysText(state, says), SAYS_CHARS)}`;
  const back = undo ? ` (undo: ${undo.op} ${cutText(JSON.stringify(undo.args), SAYS_CHARS)})` : "";
  const name = state === "not_done" ? "not done" : state;
  return `${index + 1}. ${name} ${op} ${cutText(JSON.stringify(given), ARGS_CHARS)}${mark}${saying}${back}`;
}

/** The problem of a call without its details, which the error has in full. */
function saysText(state: ShownEffect["state"], says: unknown): string {
  const { code, message } = fieldsOf(says);
  return state === "failed" && code !== undefined ? `${code}: ${message}` : toContentText(says as Json);
}

function countOps(effects: readonly ShownEffect[]): string {
  const counts = Map.groupBy(effects, ({ op, state }) => (state === "done" ? op : `${op} (${state})`));
  return [...counts].map(([op, { length }]) => (length > 1 ? `${op} ×${length}` : op)).join(", ");
}

/** Finds the call that undoes an effect: the one that its author names, or the counterpart of its verb. */
function findUndo(effect: Effect, result: Json, view: View): UndoStep | undefined {
  const entry = view.find(effect.op);
  if (entry?.kind === "tool" && entry.undo) {
    try {
      const step = entry.undo({ ...effect.args }, result);
      return step && view.find(step.op) ? step : undefined;
    } catch {
      // An author's undo gets any result of the tool, so it may fail.
      return undefined;
    }
  }
  const names = effect.op.split(".");
  const verb = names.at(-1) ?? "";
  const group = names.slice(0, -1).join(".");
  const counterpart = undoingVerbs(verb)
    .map((name) => view.find(`${group}.${name}`))
    .find((found) => found?.kind === "tool");
  return (
    counterpart && { op: counterpart.op, args: fillArgs(counterpart, effect, result, names.at(-2) ?? "") }
  );
}

/** Takes each required argument from the result or from the effect's arguments, by name. */
function fillArgs(
  { inputSchema }: Entry,
  effect: Effect,
  result: Json,
  entity: string,
): Record<string, unknown> {
  const required = listOf(inputSchema.required).map(String);
  const fields = fieldsOf(result);
  const places = [{ ...fields, ...fieldsOf(fields[entity]) }, effect.args];
  return Object.fromEntries(
    required.flatMap((name) => {
      const spellings = isIdOf(name, entity) ? [name, "id", `${entity}_id`, `${entity}Id`] : [name];
      const values = places.flatMap((place) =>
        spellings.filter((key) => Object.hasOwn(place, key)).map((key) => place[key]),
      );
      return values.length > 0 ? [[name, values[0]]] : [];
    }),
  );
}

function isIdOf(name: string, entity: string): boolean {
  return ["id", `${entity}id`, `${entity}_id`].includes(name.toLowerCase());
}
