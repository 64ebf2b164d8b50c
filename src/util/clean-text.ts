import { cutText } from "./cut-text.ts";

const PLAIN = /^[\n\t\x20-\x7e]*$/;
const CARRIAGE_RETURN = /\r\n?/g;
// Characters that a reader cannot see: controls, bidi overrides, zero-width and tag characters, selectors that carry data.
const INVISIBLE = /(?!\n|\t|\uFE0E|\uFE0F)[\p{Cc}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]/gu;
const REPEATED_SELECTOR = /([\uFE0E\uFE0F])[\uFE0E\uFE0F]+/g;
const CONTROL = /(?!\n|\t)\p{Cc}/u;

/**
 * Removes from outside text everything that a person would not see: control and invisible characters, terminal
 * escape sequences and HTML comments. Cleaning twice changes nothing more.
 */
export function cleanText(text: string, maxChars?: number): string {
  const cleaned = dropComments(PLAIN.test(text) ? text : dropInvisible(text));
  return maxChars === undefined ? cleaned : cutText(cleaned, maxChars);
}

// Control characters below a blank are left out: JSON writes them out.
const HIDDEN =
  /(?!\uFE0E|\uFE0F)[\x7f-\x9f\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]|[\uFE0E\uFE0F]{2}/u;
// Some scripts join letters, and some emoji are several joined ones.
const JOINER =
  /(?<=[\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}])[\u200C\u200D](?=[\p{L}\p{M}\p{Extended_Pictographic}])/gu;

/**
 * Whether a name or value that must stay as it is has characters that a reader of its JSON cannot see. For prose,
 * use {@link cleanText}.
 */
export function hidesText(text: string): boolean {
  return !PLAIN.test(text) && HIDDEN.test(text.replace(JOINER, ""));
}

function dropInvisible(text: string): string {
  return dropEscapes(text)
    .replace(CARRIAGE_RETURN, "\n")
    .replace(INVISIBLE, "")
    .replace(REPEATED_SELECTOR, "$1")
    .toWellFormed();
}

function dropEscapes(text: string): string {
  if (!CONTROL.test(text)) return text;
  const kept: string[] = [];
  let from = 0;
  for (let at = 0; at < text.length; ) {
    const end = escapeEnd(text, at);
    if (end === at) {
      at += 1;
      continue;
    }
    kept.push(text.slice(from, at));
    at = end;
    from = end;
  }
  kept.push(text.slice(from));
  return kept.join("");
}

/** Finds the end of the escape sequence that starts at `at`. Returns `at` if none starts there. */
function escapeEnd(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  if (unit === 0x9b) return controlSequenceEnd(text, at + 1);
  if (isStringOpener(unit)) return controlStringEnd(text, at + 1);
  if (unit !== 0x1b) return at;
  const next = text.charCodeAt(at + 1);
  if (next === 0x5b) return controlSequenceEnd(text, at + 2);
  if (isStringOpener(next + 0x40)) return controlStringEnd(text, at + 2);
  const final = skipWhile(text, at + 1, 0x20, 0x2f);
  return inRange(text.charCodeAt(final), 0x30, 0x7e) ? final + 1 : at + 1;
}

/** DCS, SOS, OSC, PM and APC hold text up to a terminator. */
function isStringOpener(unit: number): boolean {
  return unit === 0x90 || unit === 0x98 || inRange(unit, 0x9d, 0x9f);
}

function controlSequenceEnd(text: string, from: number): number {
  const final = skipWhile(text, skipWhile(text, from, 0x30, 0x3f), 0x20, 0x2f);
  return inRange(text.charCodeAt(final), 0x40, 0x7e) ? final + 1 : final;
}

/** A string without a terminator loses only its opener, so the text after it stays visible. */
function controlStringEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === 0x07 || unit === 0x9c) return at + 1;
    if (unit === 0x1b && text.charCodeAt(at + 1) === 0x5c) return at + 2;
    // Stopping at any other control keeps the work linear: the next search starts where this one ended.
    if (unit < 0x20 || inRange(unit, 0x7f, 0x9f)) return from;
  }
  return from;
}

function skipWhile(text: string, from: number, low: number, high: number): number {
  let at = from;
  while (inRange(text.charCodeAt(at), low, high)) at += 1;
  return at;
}

function inRange(unit: number, low: number, high: number): boolean {
  return unit >= low && unit <= high;
}

/** Replaces each comment by a space, so that the text around it cannot form another comment. */
function dropComments(text: string): string {
  let open = text.indexOf("<!--");
  if (open === -1) return text;
  const kept: string[] = [];
  let from = 0;
  let spaced = true;
  let closes = true;
  while (open !== -1) {
    if (open > from) {
      kept.push(text.slice(from, open));
      spaced = text[open - 1]!.trim() === "";
    }
    if (!spaced) kept.push(" ");
    spaced = true;
    // From within the opener: `<!-->` is a whole comment.
    const close: number = closes ? text.indexOf("-->", open + 2) : -1;
    closes = close !== -1;
    from = closes ? close + 3 : open + 4;
    open = text.indexOf("<!--", from);
  }
  kept.push(text.slice(from));
  return kept.join("");
}
