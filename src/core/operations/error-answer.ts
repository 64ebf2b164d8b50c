import { z } from "zod";
import type { FieldError } from "../../base/json-schema/field-error.ts";
import { fieldsInError } from "../../base/json-schema/field-errors.ts";
import { compactSchema, fitSchema } from "../../base/json-schema/fit-schema.ts";
import type { JsonSchema } from "../../base/json-schema/json-schema.ts";
import { isProblem, type Problem, problem } from "../../base/problems/problem.ts";
import { hideSecrets } from "../../base/safety/known-secrets.ts";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import { cutText } from "../../base/util/cut-text.ts";
import { nearest } from "../../base/util/nearest.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import { toJson } from "../../base/util/to-json.ts";
import type { View } from "../access/view.ts";
import { domainOf } from "../nouns/entry.ts";
import { inJson, toJsonNames } from "../nouns/json-form.ts";
import type { NeededEntry } from "../sessions/read-conditions.ts";
import type { CallSession } from "../storage/session-store.ts";
import {
  type AnswerLimits,
  checkOutside,
  MOST_CHARS_PER_TOKEN,
  markOutside,
  outsideSchema,
} from "./answer-parts.ts";

/** Details that messages mention. A problem may have more. */
const detailsSchema = z.looseObject({
  fieldErrors: inJson("field_errors", z.array(z.custom<FieldError>()).readonly().optional()),
  moreErrors: inJson("more_errors", z.number().optional()),
  fieldsLeftOut: inJson("fields_left_out", z.number().optional()),
  allDetails: inJson("all_details", z.string().optional()),
});

export const errorSchema = z.object({
  code: z.string(),
  message: z.string(),
  next: z.string(),
  details: detailsSchema,
  helpPath: inJson("help_path", z.string()),
  outside: outsideSchema.optional(),
});

/** A problem in an answer. */
export type ErrorAnswer = z.output<typeof errorSchema>;

/** A problem before it is shown. */
export interface FailedOperation {
  readonly problem: Problem;
  readonly helpPath: string;
  /** Label of the server whose tool failed; undefined for the owner's own tools. */
  readonly source?: string | undefined;
  /** The entry that the details belong to. */
  readonly entry?: NeededEntry | undefined;
}

export const ROOT = "root";
const MOST_SHARING = 10;
const MOST_FIELD_ERRORS = 20;
const REASON_CHARS = 1_000;
const MESSAGE_CHARS = 2_000;
/** The output of a command is shown alone, and its tool has cut it. */
const OUTPUT = "COMMAND_FAILED";
/** Problems whose messages may quote a server. */
const QUOTING = new Set([
  "UPSTREAM_ERROR",
  "UPSTREAM_LOST",
  "CALL_FAILED",
  "LOGIN_NEEDED",
  "SCRIPT_FAILED",
  "INTERNAL",
]);

/**
 * Shows a failure in the words of the surface, within its budget. Details that do not fit are stored under a handle.
 */
export function toErrorAnswer(failure: FailedOperation, room: AnswerLimits): ErrorAnswer {
  const { problem: raised, helpPath, source } = failure;
  const { code } = raised;
  const { message, next } = raised.inWords?.(room.words) ?? raised;
  const details = fitDetails(failure, room);
  const outside = checkOutside(quoted(message, details), QUOTING.has(code) ? source : undefined, room);
  return {
    code,
    // Hide secrets before the cut: a part of one would not be recognised later.
    message: toVisibleText(hideSecrets(message), code === OUTPUT ? undefined : MESSAGE_CHARS),
    next,
    details,
    helpPath,
    ...(outside && { outside }),
  };
}

export function errorText({ code, message, next, details, helpPath, outside }: ErrorAnswer): string {
  if (code === OUTPUT) return message;
  const sentence = message.replace(/[\p{L}\p{N}]$/u, "$&.");
  const step = next === "" ? "" : ` ${next}`;
  const help = `\nhelp: ${helpPath}`;
  if (outside) return `${code}: ${markOutside(quoted(sentence, details), outside)}${step}${help}`;
  return `${code}: ${sentence}${step}${detailsText(details)}${help}`;
}

function quoted(message: string, details: ErrorAnswer["details"]): string {
  return `${message}${detailsText(details)}`;
}

/** Leaves out empty lists, and the server, which the message names. */
function detailsText({ server: _, ...details }: ErrorAnswer["details"]): string {
  const present = Object.entries(details).filter(([, value]) => !Array.isArray(value) || value.length > 0);
  return present.length > 0 ? `\n${JSON.stringify(detailsJson(Object.fromEntries(present)))}` : "";
}

/** Converts the details of a problem to JSON. */
export function detailsJson<D extends object>(details: D): D {
  return toJsonNames(detailsSchema, details);
}

/** Turns any thrown value into a problem. A tool's own problem stays. */
export function toOperationProblem(error: unknown, name: string): Problem {
  if (isProblem(error)) return error;
  const reason = toVisibleText(reasonOf(error), REASON_CHARS) || "no reason given";
  return problem("INTERNAL", { name, reason });
}

/** The help path of an address: its op, or the deepest existing group of it. */
export function helpPathOf(address: string, view: View): string {
  const entry = view.find(address);
  if (entry) return entry.op;
  const segments = view.toNamed(address).replace("://tools/", ".").split(/[./]/).slice(0, 16);
  for (let length = segments.length - 1; length > 0; length--) {
    const group = segments.slice(0, length).join(".");
    if (view.shown.some(({ op }) => op.startsWith(`${group}.`))) return group;
  }
  return ROOT;
}

/** The problem of an address that matches nothing visible, with the nearest visible names. */
export function notFound(address: string, { view, session, refusal }: Lookup): Problem {
  const refused = refusal(address);
  if (refused) return refused;
  const sharing = view.byName(address);
  if (sharing.length > 1) {
    const ops = sharing.slice(0, MOST_SHARING).map(({ op }) => op);
    return problem("NOT_FOUND", { name: `A single entry named ${cutText(address, 128)}` }, { nearest: ops });
  }
  const named = view.toNamed(address);
  const domain = domainOf(named);
  const [only, ...others] = view.shown.filter((entry) => entry.domain === domain);
  // It may belong to a server that could not be listed yet.
  if (only?.status && others.length === 0) {
    return problem("UNAVAILABLE", { name: `The server ${domain}`, ...only.status });
  }
  const unveiled = (session?.memory.unveiled ?? []).flatMap((route) => view.find(route) ?? []);
  const candidates = [...view.shown, ...unveiled].flatMap((entry) =>
    address.includes("://") ? [entry.route] : [entry.op, entry.name],
  );
  const near = nearest(cutText(named, 256), new Set(candidates)).map((name) => {
    const [entry, ...more] = view.byName(name);
    return entry && more.length === 0 && !address.includes("://") ? entry.op : name;
  });
  return problem("NOT_FOUND", { name: cutText(address, 128) }, { nearest: [...new Set(near)] });
}

/** The places in which an address was looked for. */
interface Lookup {
  readonly view: View;
  readonly session?: CallSession;
  /** The refusal for a missing scope, if callers may learn of it. */
  refusal(address: string): Problem | undefined;
}

interface ParamDetails {
  readonly fieldErrors: readonly FieldError[];
  readonly schema: JsonSchema;
  readonly example: Readonly<Record<string, unknown>>;
}

function fitDetails(
  { problem: { code, details: all }, entry }: FailedOperation,
  room: AnswerLimits,
): Record<string, unknown> {
  if (isParamDetails(all) && entry) {
    const { fieldErrors } = all;
    if (room.schemasShown?.has(entry.route)) return { fieldErrors: fieldErrors.slice(0, MOST_FIELD_ERRORS) };
    room.schemasShown?.add(entry.route);
  }
  const details = isParamDetails(all) ? { ...all, schema: compactSchema(all.schema) } : all;
  if (fits(details, room)) return { ...details };
  const whole = toJson(detailsJson(details));
  const rest = { allDetails: room.keep(whole.ok ? whole.value : null, code, entry) };
  if (isParamDetails(details)) {
    const shortened = { ...shortenParams(details, room), ...rest };
    if (fits(shortened, room)) return shortened;
  }
  return rest;
}

function fits(details: object, { countTokens, helpTokens }: AnswerLimits): boolean {
  const text = JSON.stringify(detailsJson(details));
  return (
    text.length <= helpTokens ||
    (text.length <= helpTokens * MOST_CHARS_PER_TOKEN && countTokens(text) <= helpTokens)
  );
}

function isParamDetails(details: object): details is ParamDetails {
  return "fieldErrors" in details && "schema" in details && "example" in details;
}

/** Shows fields with errors first, then required ones, and counts the others. */
function shortenParams(
  { fieldErrors, schema, example }: ParamDetails,
  room: AnswerLimits,
): Record<string, unknown> {
  const errors = fieldErrors.slice(0, MOST_FIELD_ERRORS);
  const first = fieldsInError(schema, errors);
  const { countTokens } = room;
  const fitted = fitSchema(schema, { first, maxTokens: Math.floor(room.helpTokens / 2), countTokens });
  const shown = new Set(Object.keys((fitted.schema.properties ?? {}) as object));
  const args = Object.entries(example).filter(([name]) => shown.has(name));
  return {
    fieldErrors: errors,
    ...(fieldErrors.length > errors.length && { moreErrors: fieldErrors.length - errors.length }),
    schema: fitted.schema,
    ...(fitted.omitted > 0 && { fieldsLeftOut: fitted.omitted }),
    example: Object.fromEntries(args),
  };
}
