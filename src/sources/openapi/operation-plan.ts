import type { JsonSchema } from "../../base/json-schema/json-schema.ts";
import type { PlainObject } from "../../base/util/plain-object.ts";
import type { Example } from "../../core/nouns/entry.ts";

/** The arguments of a call. */
export type ApiArgs = Readonly<Record<string, unknown>>;

/** An operation and its location in the document. */
export interface FoundOperation {
  readonly method: string;
  readonly path: string;
  readonly pathItem: PlainObject;
  readonly operation: PlainObject;
  readonly operationId?: string;
  readonly tags: readonly string[];
}

/** Styles of OpenAPI parameters, by part of the request. The first style is the default. */
export const STYLES = {
  path: ["simple", "label", "matrix"],
  query: ["form", "spaceDelimited", "pipeDelimited", "deepObject"],
  header: ["simple"],
  cookie: ["form"],
} as const;
/** The part of a request that a parameter belongs to. */
export type ParameterIn = keyof typeof STYLES;
export type Style = (typeof STYLES)[ParameterIn][number];

/** The location and name of one argument in a request. */
export interface ParameterPlan {
  readonly argument: string;
  readonly name: string;
  readonly place: ParameterIn;
  readonly style: Style;
  readonly explode: boolean;
  /** Whether it is written as JSON text instead of by its style. */
  readonly asJson: boolean;
}

export interface BodyField extends Pick<ParameterPlan, "argument" | "name" | "style" | "explode"> {
  /** Whether it is base64 and sent as bytes. */
  readonly isBinary: boolean;
}

/** How to build the body of a request. */
export interface BodyPlan {
  readonly mediaType: string;
  readonly kind: "json" | "form" | "multipart" | "text" | "binary";
  readonly required: boolean;
  /** The argument that is the whole body. Otherwise the fields make up the body. */
  readonly whole?: string;
  readonly fields: readonly BodyField[];
}

/** How to build a request from the arguments of one operation. */
export interface OperationPlan {
  readonly method: string;
  /** Path template below the base URL, such as `/pets/{id}`. */
  readonly path: string;
  readonly parameters: readonly ParameterPlan[];
  readonly body?: BodyPlan;
}

/** The arguments of an operation for callers. */
export interface ApiInput extends Pick<OperationPlan, "parameters" | "body"> {
  readonly inputSchema: JsonSchema;
  readonly notes: readonly string[];
  readonly examples: readonly Example[];
}

/** Whether a lower-case name is a valid header name (RFC 9110). */
export function isHeaderName(name: string): boolean {
  return /^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name);
}

/** Whether text is a valid header value: no line breaks, and one byte a character. */
export function isHeaderValue(text: string): boolean {
  return !/[^\t\x20-\x7e\x80-\xff]/.test(text);
}
