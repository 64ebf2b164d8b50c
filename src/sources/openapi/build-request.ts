import { randomUUID } from "node:crypto";
import { problem } from "../../base/problems/problem.ts";
import { isPlainObject } from "../../base/util/plain-object.ts";
import {
  type ApiArgs,
  type BodyField,
  type BodyPlan,
  isHeaderValue,
  type OperationPlan,
  type ParameterPlan,
} from "./operation-plan.ts";

/** The HTTP request of a call, without credentials. */
export interface ApiRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
  readonly body?: string | Uint8Array<ArrayBuffer>;
}

/**
 * Builds the request of a call. Args can neither change the URL's origin nor leave the operation's path.
 *
 * @throws `REQUEST_REFUSED` or `INVALID_PARAMS` for args that would
 */
export function buildRequest(plan: OperationPlan, args: ApiArgs, base: URL, op: string): ApiRequest {
  const argumentsIn = (place: ParameterPlan["place"]) =>
    plan.parameters
      .filter((parameter) => parameter.place === place && Object.hasOwn(args, parameter.argument))
      .filter(({ argument }) => args[argument] !== null && args[argument] !== undefined)
      .map((parameter) => ({ parameter, value: args[parameter.argument] }));

  const path = `${base.pathname.replace(/\/+$/, "")}${fillTemplate(plan.path, plan.parameters, args, op)}`;
  const query = argumentsIn("query").flatMap(({ parameter, value }) => writeForm(parameter, value));
  const url = new URL(`${base.origin}${path}${query.length > 0 ? `?${query.join("&")}` : ""}`);
  if (url.origin !== base.origin || url.pathname !== path) {
    throw problem("REQUEST_REFUSED", { where: base.host, reason: `the args change the path of ${op}` });
  }
  const body = plan.body && writeBody(plan.body, args);
  return {
    method: plan.method,
    url,
    headers: {
      ...Object.fromEntries(
        argumentsIn("header").map(({ parameter, value }) => toHeader(parameter, value, op)),
      ),
      ...(body && { "content-type": body.contentType }),
    },
    cookies: argumentsIn("cookie").flatMap(({ parameter, value }) => writeForm(parameter, value)),
    ...(body && { body: body.bytes }),
  };
}

function toHeader(parameter: ParameterPlan, value: unknown, op: string): [string, string] {
  const text = parameter.asJson
    ? (JSON.stringify(value) ?? "")
    : joinValue(value, parameter.explode, ",", (part) => part);
  if (isHeaderValue(text)) return [parameter.name.toLowerCase(), text.trim()];
  throw wrong(op, parameter, "has characters that a header cannot carry, such as line breaks");
}

type WrittenParameter = Pick<ParameterPlan, "name" | "style" | "explode" | "asJson">;
type Pair = readonly [name: string, value: string];

/** Percent-encodes every character that has a meaning in a URL. */
export function percentEncode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function writePath(parameter: WrittenParameter, value: unknown): string {
  if (parameter.asJson) return percentEncode(JSON.stringify(value) ?? "");
  const { style, explode } = parameter;
  const name = percentEncode(parameter.name);
  if (style === "label") return `.${joinValue(value, explode, explode ? "." : ",", percentEncode)}`;
  if (style !== "matrix") return joinValue(value, explode, ",", percentEncode);
  if (!explode || (!Array.isArray(value) && !isPlainObject(value))) {
    return `;${name}=${joinValue(value, explode, ",", percentEncode)}`;
  }
  const pairs = Array.isArray(value)
    ? value.map((part): Pair => [parameter.name, plain(part)])
    : membersOf(value);
  return pairs.map(([key, part]) => `;${percentEncode(key)}=${percentEncode(part)}`).join("");
}

/** Writes a query, cookie or form parameter as encoded `name=value` pairs. */
function writeForm(parameter: WrittenParameter, value: unknown): string[] {
  return formPairs(parameter, value).map(([name, text]) => `${percentEncode(name)}=${text}`);
}

function formPairs(parameter: WrittenParameter, value: unknown): Pair[] {
  const { name, style, explode } = parameter;
  if (parameter.asJson) return [[name, percentEncode(JSON.stringify(value) ?? "")]];
  if (style === "deepObject") return deepPairs(name, value, 0);
  if (!Array.isArray(value) && !isPlainObject(value)) return [[name, percentEncode(plain(value))]];
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
  if (!isPlainObject(value)) return [[name, percentEncode(plain(value))]];
  return Object.entries(value).flatMap(([key, part]) => deepPairs(`${name}[${key}]`, part, depth + 1));
}

function joinValue(
  value: unknown,
  explode: boolean,
  separator: string,
  encode: (text: string) => string,
): string {
  if (Array.isArray(value)) return value.map((part) => encode(plain(part))).join(separator);
  if (!isPlainObject(value)) return encode(plain(value));
  return membersOf(value)
    .map(([key, part]) => `${encode(key)}${explode ? "=" : separator}${encode(part)}`)
    .join(separator);
}

function membersOf(value: unknown): Pair[] {
  return Object.entries(isPlainObject(value) ? value : {}).map(([key, part]) => [key, plain(part)]);
}

/** Values nested deeper than styles allow become JSON. */
function plain(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/**
 * Fills a path template with parameters, each within its own segment. Refuses a value that would leave or empty its
 * segment, because servers and proxies resolve `..` and `//`.
 *
 * @throws `INVALID_PARAMS`
 */
function fillTemplate(
  template: string,
  parameters: readonly ParameterPlan[],
  args: ApiArgs,
  op: string,
): string {
  const byName = new Map(parameters.filter(({ place }) => place === "path").map((plan) => [plan.name, plan]));
  const segments = template.split("/").map((segment) => {
    const used: ParameterPlan[] = [];
    const filled = segment.replace(/\{([^{}]+)\}/g, (_, name: string) => {
      const plan = byName.get(name)!;
      used.push(plan);
      const value = Object.hasOwn(args, plan.argument) ? args[plan.argument] : undefined;
      if (leavesSegment(value)) throw wrong(op, plan, "must not have .. as a part of a path");
      return writePath(plan, value);
    });
    const [first] = used;
    if (first === undefined) return encodeLiteral(segment);
    const whole = filled.replaceAll(/%2e/gi, ".");
    if (whole === "") throw wrong(op, first, "must not be empty");
    if (whole === "." || whole === "..") throw wrong(op, first, "must not be . or ..");
    return filled;
  });
  return segments.join("/");
}

/** Why a path of the document cannot be a template. Undefined if it can. */
export function templateRefusal(template: string): string | undefined {
  if (!template.startsWith("/")) return "its path does not begin with /";
  if (/[?#\\]|\p{Cc}/u.test(template)) return "its path has characters that end or change a path";
  const segments = template.replaceAll(/%2e/gi, ".").split("/");
  if (segments.includes("..") || segments.includes(".")) return "its path has . or .. in it";
  return undefined;
}

function leavesSegment(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(leavesSegment);
  if (typeof value === "object" && value !== null) return Object.entries(value).flat().some(leavesSegment);
  if (typeof value !== "string") return false;
  return value.includes("..") && value.split(/[\\/]/).includes("..");
}

function encodeLiteral(segment: string): string {
  return segment.replace(/[^A-Za-z0-9\-._~!$&'()*+,;=:@%]+/g, percentEncode);
}

function wrong(op: string, { argument }: ParameterPlan, message: string) {
  return problem("INVALID_PARAMS", { name: op }, { fieldErrors: [{ field: argument, message }] });
}

/** A body ready to send. */
interface WrittenBody {
  readonly contentType: string;
  readonly bytes: string | Uint8Array<ArrayBuffer>;
}

/** Writes the body of a call in its media type. Undefined if no argument belongs to it. */
function writeBody(plan: BodyPlan, args: ApiArgs): WrittenBody | undefined {
  const content = contentOf(plan, args);
  if (content === undefined) return undefined;
  const { mediaType, kind } = plan;
  switch (kind) {
    case "json":
      return { contentType: mediaType, bytes: JSON.stringify(content) };
    case "text":
      return { contentType: mediaType, bytes: String(content).toWellFormed() };
    case "binary":
      return { contentType: mediaType, bytes: Buffer.from(String(content), "base64") };
    case "form":
      return { contentType: mediaType, bytes: formText(plan, content) };
    case "multipart":
      return multipart(plan, content);
  }
}

function contentOf(plan: BodyPlan, args: ApiArgs): unknown {
  if (plan.whole !== undefined) return Object.hasOwn(args, plan.whole) ? args[plan.whole] : undefined;
  const present = plan.fields.filter(({ argument }) => Object.hasOwn(args, argument));
  if (present.length === 0 && !plan.required) return undefined;
  return Object.fromEntries(present.map(({ name, argument }) => [name, args[argument]]));
}

function formText(plan: BodyPlan, content: unknown): string {
  if (!isPlainObject(content)) return String(content);
  const pairs = Object.entries(content).flatMap(([name, value]) => {
    const { style, explode } = fieldOf(plan, name);
    // Forms cannot nest. Most servers read brackets.
    const isNested =
      style === "form" && (isPlainObject(value) || (Array.isArray(value) && value.some(isPlainObject)));
    return writeForm({ name, style: isNested ? "deepObject" : style, explode, asJson: false }, value);
  });
  return pairs.join("&");
}

function multipart(plan: BodyPlan, content: unknown): WrittenBody {
  const boundary = `keyhole-${randomUUID()}`;
  const chunks: Uint8Array[] = [];
  for (const [name, value] of Object.entries(isPlainObject(content) ? content : {})) {
    const { isBinary } = fieldOf(plan, name);
    for (const part of Array.isArray(value) ? value : [value]) {
      chunks.push(Buffer.from(`--${boundary}\r\n${partHeaders(name, part, isBinary)}\r\n\r\n`));
      chunks.push(partBytes(part, isBinary), Buffer.from("\r\n"));
    }
  }
  chunks.push(Buffer.from(`--${boundary}--\r\n`));
  return { contentType: `multipart/form-data; boundary=${boundary}`, bytes: Buffer.concat(chunks) };
}

function partHeaders(name: string, value: unknown, isBinary: boolean): string {
  const quoted = `"${quote(name)}"`;
  const disposition = `Content-Disposition: form-data; name=${quoted}`;
  if (isBinary) return `${disposition}; filename=${quoted}\r\nContent-Type: application/octet-stream`;
  return typeof value === "object" ? `${disposition}\r\nContent-Type: application/json` : disposition;
}

function partBytes(value: unknown, isBinary: boolean): Uint8Array {
  if (isBinary) return Buffer.from(String(value), "base64");
  return Buffer.from(typeof value === "object" ? JSON.stringify(value) : String(value));
}

/** Escapes names as browsers do, so that none can end its header. */
function quote(name: string): string {
  return name.replaceAll('"', "%22").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

const PLAIN: Omit<BodyField, "argument" | "name"> = { style: "form", explode: true, isBinary: false };

function fieldOf(plan: BodyPlan, name: string): Omit<BodyField, "argument" | "name"> {
  return plan.fields.find((known) => known.name === name) ?? PLAIN;
}
