import type { JsonSchema } from "../../base/json-schema/json-schema.ts";
import type { PlainObject } from "../../base/util/plain-object.ts";
import type { Example } from "../../core/nouns/entry.ts";

/** The arguments of a call. */
export type ApiArgs = Readonly<Record<string, unknown>>;

/** An operation and its place in the document. */
export interface FoundOperation {
  readonly method: string;
  readonly path: string;
  readonly pathItem: PlainObject;
  readonly operation: PlainObject;
  readonly operationId?: string;
  readonly tags: readonly string[];
}

/** The part of a request that a parameter belongs to. */
export type ParameterIn = "path" | "query" | "header" | "cookie";

/** How OpenAPI serializes a parameter. */
export type Style =
  | "simple"
  | "label"
  | "matrix"
  | "form"
  | "spaceDelimited"
  | "pipeDelimited"
  | "deepObject";

/** The place and spelling of one argument in a request. */
export interface ParameterPlan {
  readonly argument: string;
  readonly name: string;
  readonly place: ParameterIn;
  readonly style: Style;
  readonly explode: boolean;
  /** Written as JSON text instead of by its style. */
  readonly asJson: boolean;
}

/** A field of a request body. */
export interface BodyField extends Pick<ParameterPlan, "argument" | "name" | "style" | "explode"> {
  /** Given as base64 and sent as bytes. */
  readonly isBinary: boolean;
}

/** How to build the body of a request. */
export interface BodyPlan {
  readonly mediaType: string;
  readonly kind: "json" | "form" | "multipart" | "text" | "binary";
  readonly required: boolean;
  /** The argument that is the whole body. Without it, the fields make the body. */
  readonly whole?: string;
  readonly fields: readonly BodyField[];
}

/** How to build a request from the arguments of one operation. */
export interface OperationPlan {
  readonly method: string;
  /** Path template within the base URL, such as `/pets/{id}`. */
  readonly path: string;
  readonly parameters: readonly ParameterPlan[];
  readonly body?: BodyPlan;
}

/** The arguments of an operation as callers see them. */
export interface ApiInput extends Pick<OperationPlan, "parameters" | "body"> {
  readonly inputSchema: JsonSchema;
  readonly notes: readonly string[];
  readonly examples: readonly Example[];
  readonly isPruned: boolean;
}
