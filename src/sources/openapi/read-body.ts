import { type Fields, field, fieldsOf, isFields, textOf } from "../../util/fields.ts";
import type { BodyPlan, Style } from "./operation-plan.ts";
import { exampleOf } from "./read-parameters.ts";
import { resolveReference } from "./resolve-reference.ts";

/** A request body as the document declares it. */
export interface DeclaredBody {
  readonly mediaType: string;
  readonly kind: BodyPlan["kind"];
  readonly required: boolean;
  readonly schema: unknown;
  readonly description?: string;
  /** Its properties, if they can become arguments beside the parameters. */
  readonly properties?: Fields;
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
const STYLES: readonly Style[] = ["form", "spaceDelimited", "pipeDelimited", "deepObject"];

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
  const names = Array.isArray(resolved.required) ? resolved.required : [];
  const encoding = field(media, "encoding");
  return {
    kind,
    mediaType: kind === "binary" && mediaType.includes("*") ? "application/octet-stream" : mediaType,
    required: field(source, "required") === true,
    schema: kind === "text" || kind === "binary" ? { type: "string", ...fieldsOf(schema) } : schema,
    ...(description && { description }),
    ...(properties && { properties }),
    requiredNames: names.filter((name): name is string => typeof name === "string"),
    styleOf: (name) => {
      const declaredStyle = field(field(encoding, name), "style");
      const explode = field(field(encoding, name), "explode");
      const style = STYLES.find((known) => known === declaredStyle) ?? "form";
      return { style, explode: typeof explode === "boolean" ? explode : style === "form" };
    },
    example: exampleOf(root, media),
  };
}

function chooseMedia(content: Fields) {
  for (const [kind, pattern] of KINDS) {
    const mediaType = Object.keys(content).find((type) => pattern.test(type));
    if (mediaType !== undefined) return { kind, mediaType, media: content[mediaType] };
  }
  return undefined;
}

/** Only a plain, closed object is split into arguments. */
function ownProperties(schema: Fields): Fields | undefined {
  const properties = field(schema, "properties");
  if (!isFields(properties) || Object.keys(properties).length === 0) return undefined;
  if (COMPOSED.some((keyword) => Object.hasOwn(schema, keyword))) return undefined;
  const others = field(schema, "additionalProperties");
  return others === undefined || others === false ? properties : undefined;
}
