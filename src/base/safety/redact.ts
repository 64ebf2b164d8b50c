import { namesSecret, replaceSecrets } from "./secret-patterns.ts";

const MIN_CHARS = 4;
/** Shorter texts in base64 or hex match too much other text. */
const MIN_ENCODED_CHARS = 8;
const REPLACEMENT = "[secret]";
/** Letters of base64 that depend on the bytes before the secret, by its position in a group of three. */
const SHARED_LETTERS = [0, 2, 3] as const;

/**
 * Replaces secrets in text or a JSON value, in every encoding: plain, in URLs and forms, in JSON, in base64 (also
 * inside longer base64) and in hex. Texts under four characters are ignored. With `kinds`, also replaces text that
 * looks like a known kind of secret, and fields with the name of a secret.
 */
export function createRedact(secrets: readonly string[], { kinds = false } = {}): <T>(value: T) => T {
  const longSecrets = secrets.filter((secret) => secret.length >= MIN_CHARS);
  if (longSecrets.length === 0 && !kinds) return (value) => value;
  const hide = createReplacer(longSecrets.flatMap(spellings).filter((needle) => needle.length >= MIN_CHARS));
  return (value) => redactValue(value) as typeof value;

  function redactValue(value: unknown): unknown {
    if (typeof value === "string") return redactText(value);
    if (Array.isArray(value)) {
      const parts = value.map(redactValue);
      return parts.every((part, index) => part === value[index]) ? value : parts;
    }
    if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
    if ("toJSON" in value && typeof value.toJSON === "function") return redactValue(value.toJSON());
    const entries = Object.entries(value);
    const fields = entries.map(([key, part]) => [redactText(key), redactField(key, part)] as const);
    const isSame = fields.every(
      ([key, part], index) => key === entries[index]![0] && part === entries[index]![1],
    );
    return isSame ? value : Object.fromEntries(fields);
  }

  function redactField(name: string, value: unknown): unknown {
    const isSecret = kinds && typeof value === "string" && value.length >= MIN_CHARS && namesSecret(name);
    return isSecret ? REPLACEMENT : redactValue(value);
  }

  function redactText(text: string): string {
    return kinds ? replaceSecrets(hide(text), REPLACEMENT) : hide(text);
  }
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
    // The last letter may share bits with the following text.
    const unshared = letters.slice(shared, Math.floor(((before + bytes.length) * 8) / 6));
    return [unshared, unshared.replaceAll("+", "-").replaceAll("/", "_")];
  });
  return [hex, hex.toUpperCase(), ...inside];
}

/** The table is keyed by this many first characters. */
const START = 3;
const KEYS = 65_536;

/**
 * Prepares the replacement of many texts of at least three characters. One pass finds the longest match at each
 * position; most positions cost one table lookup.
 */
function createReplacer(needles: readonly string[]): (text: string) => string {
  const byStart = Map.groupBy(
    [...new Set(needles)].sort((left, right) => right.length - left.length),
    (needle) => needle.slice(0, START),
  );
  const starts = new Uint8Array(KEYS);
  for (const start of byStart.keys()) starts[keyAt(start, 0)] = 1;

  return (text) => {
    const last = text.length - START;
    let replaced = "";
    let from = 0;
    for (let at = 0; at <= last; ) {
      const match = starts[keyAt(text, at)] === 1 ? needleAt(text, at) : undefined;
      if (match === undefined) {
        at += 1;
        continue;
      }
      replaced += text.slice(from, at) + REPLACEMENT;
      at += match.length;
      from = at;
    }
    return from === 0 ? text : replaced + text.slice(from);
  };

  function needleAt(text: string, at: number): string | undefined {
    return byStart.get(text.slice(at, at + START))?.find((needle) => text.startsWith(needle, at));
  }
}

function keyAt(text: string, at: number): number {
  return (text.charCodeAt(at) * 961 + text.charCodeAt(at + 1) * 31 + text.charCodeAt(at + 2)) & (KEYS - 1);
}
