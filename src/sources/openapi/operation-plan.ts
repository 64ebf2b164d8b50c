import type { Example } from "../../schema/entry.ts";
import type { JsonSchema } from "../../schema/json-schema.ts";

export type Place = "path" | "query" | "header" | "cookie";

export type Style =
  | "simple"
  | "label"
  | "matrix"
  | "form"
  | "spaceDelimited"
  | "pipeDelimited"
  | "deepObject";

/** Where one argument goes, and how it is written there. */
export interface ParameterPlan {
  readonly argument: string;
  readonly name: string;
  readonly place: Place;
  readonly style: Style;
  readonly explode: boolean;
  /** Written as JSON text instead of by its style. */
  readonly asJson: boolean;
}

export interface BodyField {
  readonly argument: string;
  readonly name: string;
  readonly style: Style;
  readonly explode: boolean;
  /** Given in base64, sent as bytes. */
  readonly isBinary: boolean;
}

export interface BodyPlan {
  readonly mediaType: string;
  readonly kind: "json" | "form" | "multipart" | "text" | "binary";
  readonly required: boolean;
  /** The argument that is the whole body; without it the body is made of the fields. */
  readonly whole?: string;
  readonly fields: readonly BodyField[];
}

/** Everything a call of one operation needs to know. */
export interface OperationPlan {
  readonly method: string;
  /** Path template within the base URL, such as `/pets/{id}`. */
  readonly path: string;
  readonly parameters: readonly ParameterPlan[];
  readonly body?: BodyPlan;
}

/** The arguments of an operation as a caller sees them. */
export interface OperationInput extends Pick<OperationPlan, "parameters" | "body"> {
  readonly inputSchema: JsonSchema;
  readonly notes: readonly string[];
  readonly examples: readonly Example[];
  readonly isPruned: boolean;
}
