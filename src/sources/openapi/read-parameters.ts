import { field, listOf, textOf } from "../../util/fields.ts";
import type { Place, Style } from "./operation-plan.ts";
import { resolveReference } from "./resolve-reference.ts";

/** A parameter as the document declares it. */
export interface DeclaredParameter {
  readonly name: string;
  readonly place: Place;
  readonly required: boolean;
  readonly style: Style;
  readonly explode: boolean;
  readonly asJson: boolean;
  readonly schema: unknown;
  readonly description?: string;
  readonly deprecated: boolean;
  readonly example: unknown;
}

const PLACES: readonly Place[] = ["path", "query", "header", "cookie"];
const STYLES: Readonly<Record<Place, readonly Style[]>> = {
  path: ["simple", "label", "matrix"],
  query: ["form", "spaceDelimited", "pipeDelimited", "deepObject"],
  header: ["simple"],
  cookie: ["form"],
};
/** Headers that the specification describes elsewhere. */
const DESCRIBED_ELSEWHERE = new Set(["accept", "content-type", "authorization"]);
const OWNED_BY_TRANSPORT =
  /^(?:host|connection|content-length|content-encoding|transfer-encoding|upgrade|te|trailer|expect|keep-alive|cookie2?|set-cookie|via|forwarded|origin|proxy-.*|sec-.*|x-forwarded-.*)$/;

/** Reads the parameters of an operation, which replace those of its path. Parameters in the path come first. */
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
    if (!byKey.has(`path ${name}`)) byKey.set(`path ${name}`, undeclared(name));
  }
  return [...byKey.values()]
    .filter(({ place, name }) => place !== "path" || templated.has(name))
    .sort((left, right) => PLACES.indexOf(left.place) - PLACES.indexOf(right.place));
}

/** Whether a caller may set a header. Those of the transport and of credentials are reserved. */
export function isCallersHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return (
    /^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(lower) &&
    !OWNED_BY_TRANSPORT.test(lower) &&
    !DESCRIBED_ELSEWHERE.has(lower)
  );
}

function toParameter(root: unknown, part: unknown): DeclaredParameter | undefined {
  const source = resolveReference(root, part);
  const name = textOf(field(source, "name"));
  const place = PLACES.find((known) => known === field(source, "in"));
  if (name === undefined || place === undefined) return undefined;
  if (place === "header" && !isCallersHeader(name)) return undefined;
  const [mediaType, media] = Object.entries(resolveReference(root, field(source, "content")))[0] ?? [];
  const style = STYLES[place].find((known) => known === field(source, "style")) ?? STYLES[place][0]!;
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

/** Returns the first example of a parameter or media type. */
export function exampleOf(root: unknown, holder: unknown): unknown {
  const example = field(holder, "example");
  if (example !== undefined) return example;
  const [first] = Object.values(resolveReference(root, field(holder, "examples")));
  return first === undefined ? undefined : field(resolveReference(root, first), "value");
}

function undeclared(name: string): DeclaredParameter {
  return {
    name,
    place: "path",
    required: true,
    style: "simple",
    explode: false,
    asJson: false,
    schema: { type: "string" },
    deprecated: false,
    example: undefined,
  };
}
