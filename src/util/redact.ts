import { createReplacer } from "./create-replacer.ts";
import { namesSecret, replaceSecrets } from "./secret-patterns.ts";

const MIN_CHARS = 4;
/** Shorter texts in base64 or hex stand for too many other things. */
const MIN_ENCODED_CHARS = 8;
const REPLACEMENT = "[secret]";
/** Letters of base64 that depend on the bytes before the secret, by its place in a group of three. */
const SHARED_LETTERS = [0, 2, 3] as const;

export interface RedactOptions {
  /** Also replaces text that looks like a known kind of secret, and fields whose names say secret. */
  readonly kinds?: boolean;
}

/**
 * Replaces secrets in text and throughout a JSON value, in every spelling: plain, in URLs and forms, in JSON, in
 * base64 (also inside longer base64) and in hex. Texts under four characters are no secrets.
 */
export function createRedact(
  secrets: readonly string[],
  { kinds = false }: RedactOptions = {},
): <T>(value: T) => T {
  const known = secrets.filter((secret) => secret.length >= MIN_CHARS);
  if (known.length === 0 && !kinds) return (value) => value;
  const needles = known.flatMap(spellings).filter((needle) => needle.length >= MIN_CHARS);
  const wanted = { hide: createReplacer(needles, REPLACEMENT), kinds };
  return (value) => redactValue(value, wanted) as typeof value;
}

interface Wanted {
  hide(text: string): string;
  readonly kinds: boolean;
}

function spellings(secret: string): string[] {
  const wellFormed = secret.toWellFormed();
  const inUrl = encodeURIComponent(wellFormed);
  const strict = inUrl.replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
  const inForm = new URLSearchParams([["", wellFormed]]).toString().slice(1);
  const inJson = JSON.stringify(wellFormed).slice(1, -1);
  return [
    ...[secret, wellFormed, inJson, JSON.stringify(inJson).slice(1, -1)],
    ...[inUrl, strict, inForm].flatMap((spelt) => [spelt, lowerEscapes(spelt)]),
    ...(wellFormed.length >= MIN_ENCODED_CHARS ? encodings(Buffer.from(wellFormed)) : []),
  ];
}

function lowerEscapes(spelt: string): string {
  return spelt.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
}

function encodings(bytes: Buffer): string[] {
  const hex = bytes.toString("hex");
  const inside = SHARED_LETTERS.flatMap((shared, before) => {
    const letters = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    // The last letter may share bits with what follows.
    const own = letters.slice(shared, Math.floor(((before + bytes.length) * 8) / 6));
    return [own, own.replaceAll("+", "-").replaceAll("/", "_")];
  });
  return [hex, hex.toUpperCase(), ...inside];
}

function redactValue(value: unknown, wanted: Wanted): unknown {
  if (typeof value === "string") return redactText(value, wanted);
  if (Array.isArray(value)) return value.map((part) => redactValue(part, wanted));
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  if ("toJSON" in value && typeof value.toJSON === "function") return redactValue(value.toJSON(), wanted);
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [redactText(key, wanted), redactField(key, part, wanted)]),
  );
}

function redactField(name: string, value: unknown, wanted: Wanted): unknown {
  const isSecret =
    wanted.kinds && typeof value === "string" && value.length >= MIN_CHARS && namesSecret(name);
  return isSecret ? REPLACEMENT : redactValue(value, wanted);
}

function redactText(text: string, { hide, kinds }: Wanted): string {
  const known = hide(text);
  return kinds ? replaceSecrets(known, REPLACEMENT) : known;
}
