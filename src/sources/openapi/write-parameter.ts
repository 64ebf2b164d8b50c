import { isFields } from "../../util/fields.ts";
import type { ParameterPlan } from "./operation-plan.ts";

type Written = Pick<ParameterPlan, "name" | "style" | "explode" | "asJson">;
/** A name and its value. */
export type Pair = readonly [name: string, value: string];

/** Percent-encodes every character that has a meaning in a URL. */
export function percentEncode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Writes a path parameter, encoded. */
export function writePath(parameter: Written, value: unknown): string {
  if (parameter.asJson) return percentEncode(JSON.stringify(value) ?? "");
  const { style, explode } = parameter;
  const name = percentEncode(parameter.name);
  if (style === "label") return `.${joinValue(value, explode, explode ? "." : ",", percentEncode)}`;
  if (style !== "matrix") return joinValue(value, explode, ",", percentEncode);
  if (!explode || (!Array.isArray(value) && !isFields(value))) {
    return `;${name}=${joinValue(value, explode, ",", percentEncode)}`;
  }
  const pairs = Array.isArray(value)
    ? value.map((part): Pair => [parameter.name, plain(part)])
    : membersOf(value);
  return pairs.map(([key, part]) => `;${percentEncode(key)}=${percentEncode(part)}`).join("");
}

/** Writes a header's value. */
export function writeHeader(parameter: Written, value: unknown): string {
  if (parameter.asJson) return JSON.stringify(value) ?? "";
  return joinValue(value, parameter.explode, ",", (text) => text);
}

/** Writes a query, cookie or form parameter as encoded `name=value` pairs. */
export function writeForm(parameter: Written, value: unknown): string[] {
  return formPairs(parameter, value).map(([name, text]) => `${percentEncode(name)}=${text}`);
}

function formPairs(parameter: Written, value: unknown): Pair[] {
  const { name, style, explode } = parameter;
  if (parameter.asJson) return [[name, percentEncode(JSON.stringify(value) ?? "")]];
  if (style === "deepObject") return deepPairs(name, value, 0);
  if (!Array.isArray(value) && !isFields(value)) return [[name, percentEncode(plain(value))]];
  if (explode && Array.isArray(value)) return value.map((part): Pair => [name, percentEncode(plain(part))]);
  if (explode) return membersOf(value).map(([key, part]): Pair => [key, percentEncode(part)]);
  return [[name, joinValue(value, false, SEPARATORS.get(style) ?? ",", percentEncode)]];
}

const SEPARATORS: ReadonlyMap<string, string> = new Map([
  ["spaceDelimited", "%20"],
  ["pipeDelimited", "%7C"],
]);
const MAX_DEPTH = 16;

function deepPairs(name: string, value: unknown, depth: number): Pair[] {
  if (depth > MAX_DEPTH || value === undefined) return [];
  if (Array.isArray(value)) return value.flatMap((part) => deepPairs(name, part, depth + 1));
  if (!isFields(value)) return [[name, percentEncode(plain(value))]];
  return Object.entries(value).flatMap(([key, part]) => deepPairs(`${name}[${key}]`, part, depth + 1));
}

function joinValue(
  value: unknown,
  explode: boolean,
  separator: string,
  encode: (text: string) => string,
): string {
  if (Array.isArray(value)) return value.map((part) => encode(plain(part))).join(separator);
  if (!isFields(value)) return encode(plain(value));
  return membersOf(value)
    .map(([key, part]) => `${encode(key)}${explode ? "=" : separator}${encode(part)}`)
    .join(separator);
}

function membersOf(value: unknown): Pair[] {
  return Object.entries(isFields(value) ? value : {}).map(([key, part]) => [key, plain(part)]);
}

/** Values nested deeper than styles reach become JSON. */
function plain(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
