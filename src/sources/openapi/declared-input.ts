import {
  field,
  fieldsOf,
  isPlainObject,
  listOf,
  type PlainObject,
  textOf,
} from "../../base/util/plain-object.ts";
import { resolveReference } from "./load-document.ts";
import {
  type BodyPlan,
  isHeaderName,
  type ParameterIn,
  type ParameterPlan,
  STYLES,
  type Style,
} from "./operation-plan.ts";

export interface DeclaredParameter extends Omit<ParameterPlan, "argument"> {
  readonly required: boolean;
  readonly schema: unknown;
  readonly description?: string;
  readonly deprecated: boolean;
  readonly example: unknown;
}

const PLACES = Object.keys(STYLES) as ParameterIn[];
/** Headers that the specification describes elsewhere. */
const DESCRIBED_ELSEWHERE = new Set(["accept", "content-type", "authorization"]);
const OWNED_BY_TRANSPORT =
  /^(?:host|connection|content-length|content-encoding|transfer-encoding|upgrade|te|trailer|expect|keep-alive|cookie2?|set-cookie|via|forwarded|origin|proxy-.*|sec-.*|x-forwarded-.*)$/;

/** Reads the parameters of an operation, which replace those of its path. Path parameters come first. */
export function readParameters(
  root: unknown,
  path: string,
  declared: { readonly ofPath: unknown; readonly ofOperation: unknown },
): DeclaredParameter[] {
  const byKey = new Map<string, DeclaredParameter>();
  for (const part of [...listOf(declared.ofPath), ...listOf(declared.ofOperation)]) {
    const parameter = toParameter(root, part);
    if (parameter) byKey.set(`${parameter.place} ${parameter.name}`, parameter);
  }
  const templated = new Set([...path.matchAll(/\{([^{}]+)\}/g)].map((match) => match[1]!));
  for (const name of templated) {
    const undeclared = { name, in: "path", schema: { type: "string" } };
    if (!byKey.has(`path ${name}`)) byKey.set(`path ${name}`, toParameter(root, undeclared)!);
  }
  return [...byKey.values()]
    .filter(({ place, name }) => place !== "path" || templated.has(name))
    .sort((left, right) => PLACES.indexOf(left.place) - PLACES.indexOf(right.place));
}

/** Whether a caller may set a header. Those of the transport and of credentials are reserved. */
function isCallersHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return isHeaderName(lower) && !OWNED_BY_TRANSPORT.test(lower) && !DESCRIBED_ELSEWHERE.has(lower);
}

function toParameter(root: unknown, part: unknown): DeclaredParameter | undefined {
  const source = resolveReference(root, part);
  const name = textOf(field(source, "name"));
  const place = PLACES.find((known) => known === field(source, "in"));
  if (name === undefined || place === undefined) return undefined;
  if (place === "header" && !isCallersHeader(name)) return undefined;
  const [mediaType, media] = Object.entries(resolveReference(root, field(source, "content")))[0] ?? [];
  const styles: readonly Style[] = STYLES[place];
  const style = styles.find((candidate) => candidate === field(source, "style")) ?? styles[0]!;
  const explode = field(source, "explode");
  const description = textOf(field(source, "description"));
  return {
    name,
    place,
    required: place === "path" || field(source, "required") === true,
    style,
    explode: typeof explode === "boolean" ? explode : style === "form" || style === "deepObject",
    asJson: mediaType !== undefined && /json/i.test(mediaType),
    schema: field(source, "schema") ?? field(media, "schema") ?? {},
    ...(description && { description }),
    deprecated: field(source, "deprecated") === true,
    example: exampleOf(root, source) ?? exampleOf(root, media),
  };
}

/** The first example of a parameter or media type. */
export function exampleOf(root: unknown, holder: unknown): unknown {
  const example = field(holder, "example");
  if (example !== undefined) return example;
  const [first] = Object.values(resolveReference(root, field(holder, "examples")));
  return first === undefined ? undefined : field(resolveReference(root, first), "value");
}

/** A request body as declared in the document. */
export interface DeclaredBody extends Pick<BodyPlan, "mediaType" | "kind" | "required"> {
  readonly schema: unknown;
  readonly description?: string;
  /** Its properties, if they can become arguments next to the parameters. */
  readonly properties?: PlainObject;
  /** Properties that every body must have. */
  readonly requiredNames: readonly string[];
  readonly styleOf: (name: string) => { readonly style: Style; readonly explode: boolean };
  readonly example: unknown;
}

const KINDS: readonly (readonly [BodyPlan["kind"], RegExp])[] = [
  ["json", /^application\/(?:[^;]*\+)?json\b/i],
  ["form", /^application\/x-www-form-urlencoded\b/i],
  ["multipart", /^multipart\/form-data\b/i],
  ["text", /^(?:text\/|application\/(?:[^;]*\+)?xml\b)/i],
  ["binary", /^[\w.+-]+\/[\w.+*-]+/],
];
const COMPOSED = ["allOf", "anyOf", "oneOf", "not", "if", "patternProperties", "propertyNames", "$ref"];

/** Reads the body of an operation in the media type that is easiest to write. Undefined without a body. */
export function readBody(root: unknown, declared: unknown): DeclaredBody | undefined {
  const source = resolveReference(root, declared);
  const choice = chooseMedia(fieldsOf(field(source, "content")));
  if (choice === undefined) return undefined;
  const { kind, mediaType, media } = choice;
  const schema = field(media, "schema") ?? {};
  const resolved = resolveReference(root, schema);
  const properties = kind === "text" || kind === "binary" ? undefined : ownProperties(resolved);
  const description = textOf(field(source, "description"));
  const encoding = field(media, "encoding");
  return {
    kind,
    mediaType: kind === "binary" && mediaType.includes("*") ? "application/octet-stream" : mediaType,
    required: field(source, "required") === true,
    schema: kind === "text" || kind === "binary" ? { type: "string", ...fieldsOf(schema) } : schema,
    ...(description && { description }),
    ...(properties && { properties }),
    requiredNames: listOf(resolved.required).filter((name) => typeof name === "string"),
    styleOf: (name) => {
      const declaredStyle = field(field(encoding, name), "style");
      const explode = field(field(encoding, name), "explode");
      const style = STYLES.query.find((candidate) => candidate === declaredStyle) ?? "form";
      return { style, explode: typeof explode === "boolean" ? explode : style === "form" };
    },
    example: exampleOf(root, media),
  };
}

function chooseMedia(content: PlainObject) {
  for (const [kind, pattern] of KINDS) {
    const mediaType = Object.keys(content).find((type) => pattern.test(type));
    if (mediaType !== undefined) return { kind, mediaType, media: content[mediaType] };
  }
  return undefined;
}

/** Only a plain, closed object is split into arguments. */
function ownProperties(schema: PlainObject): PlainObject | undefined {
  const properties = field(schema, "properties");
  if (!isPlainObject(properties) || Object.keys(properties).length === 0) return undefined;
  if (COMPOSED.some((keyword) => Object.hasOwn(schema, keyword))) return undefined;
  const others = field(schema, "additionalProperties");
  return others === undefined || others === false ? properties : undefined;
}
