import type { View } from "../access/view.ts";
import type { Entry, UndoStep } from "../schema/entry.ts";
import { isFields } from "../util/fields.ts";
import type { Json } from "../util/json.ts";
import type { Effect } from "./plan.ts";

/** Verbs of one entity that undo each other. */
const PAIRS: readonly (readonly [makes: readonly string[], removes: readonly string[]])[] = [
  [
    ["create", "add", "insert", "new", "make", "upload", "register", "book"],
    ["delete", "remove", "destroy", "cancel", "unregister"],
  ],
  [["archive"], ["unarchive", "restore"]],
  [["enable"], ["disable"]],
  [["start"], ["stop"]],
  [["lock"], ["unlock"]],
  [["publish"], ["unpublish"]],
  [["subscribe"], ["unsubscribe"]],
  [["assign"], ["unassign"]],
  [["link"], ["unlink"]],
  [["attach"], ["detach"]],
];

/** Finds the tool that undoes an effect: the one that its author names, or the counterpart of its verb. */
export function findUndo(effect: Effect, result: Json, view: View): UndoStep | undefined {
  const entry = view.find(effect.op);
  if (entry?.kind === "tool" && entry.undo) return declared(entry.undo, effect, result, view);
  const names = effect.op.split(".");
  const verb = names.at(-1) ?? "";
  const group = names.slice(0, -1).join(".");
  const removes = PAIRS.find(([makes]) => makes.includes(verb))?.[1] ?? [];
  const counterpart = removes
    .map((name) => view.find(`${group}.${name}`))
    .find((found) => found?.kind === "tool");
  return (
    counterpart && { op: counterpart.op, args: fillArgs(counterpart, effect, result, names.at(-2) ?? "") }
  );
}

/** An author's undo runs on whatever the tool returned, so it may fail. */
function declared(
  undo: (params: Record<string, unknown>, result: unknown) => UndoStep | undefined,
  { args }: Effect,
  result: Json,
  view: View,
): UndoStep | undefined {
  try {
    const step = undo({ ...args }, result);
    return step && view.find(step.op) ? step : undefined;
  } catch {
    return undefined;
  }
}

/** Takes each required argument from the result or from the arguments of the effect, by its name. */
function fillArgs(
  { inputSchema }: Entry,
  effect: Effect,
  result: Json,
  entity: string,
): Record<string, unknown> {
  const required = Array.isArray(inputSchema.required) ? inputSchema.required.map(String) : [];
  const fields: Readonly<Record<string, unknown>> = isFields(result) ? result : {};
  const inner = fields[entity];
  const places = [isFields(inner) ? { ...fields, ...inner } : fields, effect.args];
  return Object.fromEntries(
    required.flatMap((name) => {
      const spellings = isIdOf(name, entity) ? [name, "id", `${entity}_id`, `${entity}Id`] : [name];
      const found = places.flatMap((place) =>
        spellings.filter((key) => Object.hasOwn(place, key)).map((key) => place[key]),
      );
      return found.length > 0 ? [[name, found[0]]] : [];
    }),
  );
}

function isIdOf(name: string, entity: string): boolean {
  return ["id", `${entity}id`, `${entity}_id`].includes(name.toLowerCase());
}
