import { randomUUID } from "node:crypto";
import { isFields } from "../../util/fields.ts";
import type { BodyField, BodyPlan } from "./operation-plan.ts";
import { writeForm } from "./write-parameter.ts";

/** A body that is ready to be sent. */
export interface WrittenBody {
  readonly contentType: string;
  readonly bytes: string | Uint8Array<ArrayBuffer>;
}

type Args = Readonly<Record<string, unknown>>;

/** Writes the body of a call in its media type. Undefined if no argument belongs to it. */
export function writeBody(plan: BodyPlan, args: Args): WrittenBody | undefined {
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

function contentOf(plan: BodyPlan, args: Args): unknown {
  if (plan.whole !== undefined) return Object.hasOwn(args, plan.whole) ? args[plan.whole] : undefined;
  const given = plan.fields.filter(({ argument }) => Object.hasOwn(args, argument));
  if (given.length === 0 && !plan.required) return undefined;
  return Object.fromEntries(given.map(({ name, argument }) => [name, args[argument]]));
}

function formText(plan: BodyPlan, content: unknown): string {
  if (!isFields(content)) return String(content);
  const pairs = Object.entries(content).flatMap(([name, value]) => {
    const { style, explode } = fieldOf(plan, name);
    // Forms cannot nest. Most servers read brackets.
    const isNested = style === "form" && (isFields(value) || (Array.isArray(value) && value.some(isFields)));
    return writeForm({ name, style: isNested ? "deepObject" : style, explode, asJson: false }, value);
  });
  return pairs.join("&");
}

function multipart(plan: BodyPlan, content: unknown): WrittenBody {
  const boundary = `keyhole-${randomUUID()}`;
  const chunks: Uint8Array[] = [];
  for (const [name, value] of Object.entries(isFields(content) ? content : {})) {
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
