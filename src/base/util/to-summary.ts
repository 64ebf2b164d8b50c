import { cutText } from "./cut-text.ts";

/** The first sentence of a description on one line. Beyond `maxChars` it ends at a word, with `…`. */
export function toSummary(description: string, maxChars = 160): string {
  const limit = Math.max(0, Math.floor(maxChars) || 0);
  const whole = description.slice(0, Math.max(MAX_READ, limit * 2)).trimStart();
  // A summary without this sentence would recommend the tool.
  const deprecated = DEPRECATED.exec(whole)?.index ?? 0;
  const head = whole.slice(deprecated);
  const paragraph = firstParagraph(stripLeadingMarks(head)).replace(BLANKS, " ").trim().toWellFormed();
  return cutAtWord(paragraph.slice(0, sentenceEnd(paragraph)), limit);
}

/** Outside descriptions have any size. No first sentence is longer than this. */
const MAX_READ = 4_000;
/** A sentence that deprecates the whole thing. */
const DEPRECATED = /(?<=[.!?][)\]]?\s{1,8})(?:DEPRECATED|Deprecated)\b/;
const BLANKS = /[\s\p{Cc}]+/gu;

function stripLeadingMarks(text: string): string {
  const bare = text.replace(/^(?:#{1,6}\s+|>\s*|[-*+]\s+)+/, "");
  if (!bare.startsWith("**")) return bare;
  const unopened = bare.slice(2);
  const close = unopened.indexOf("**");
  return close === -1 ? unopened : unopened.slice(0, close) + unopened.slice(close + 2);
}

/** Headings have no full stop; the blank line after a heading ends it. So does the heading of a list: `Args:`. */
function firstParagraph(text: string): string {
  const end = text.search(
    /\n[^\S\n]{0,80}\n|\r\n[^\S\n]{0,80}\r\n|\r?\n[^\S\n]{0,80}\p{Lu}[\p{L} ]{1,40}:[^\S\n]{0,80}\n/u,
  );
  return end === -1 ? text : text.slice(0, end);
}

function sentenceEnd(text: string): number {
  for (const { 0: stop, index } of text.matchAll(STOPS)) {
    const end = index + stop.length;
    if (WIDE_STOP.test(stop)) return end;
    if (end < text.length && text[end] !== " ") continue;
    if (stop.startsWith(".") && !endsSentence(text, index, end)) continue;
    return end;
  }
  return text.length;
}

// Closing quotes and brackets after a stop belong to the sentence.
const STOPS = /[.!?。！？｡]{1,8}["'”’»)\]`*」』）]{0,4}/gu;
const WIDE_STOP = /[。！？｡]/u;

function endsSentence(text: string, stopAt: number, end: number): boolean {
  const before = text.slice(Math.max(0, stopAt - 24), stopAt);
  const word = before.slice(before.lastIndexOf(" ") + 1).replace(/^["'“‘«([`*]+/, "");
  const next = text.slice(end, end + 3).trimStart();
  const continuesInLowerCase = /^\p{Ll}/u.test(next);
  if (text.startsWith("..", stopAt)) return !continuesInLowerCase;
  if (word.toLowerCase() === "etc") return !continuesInLowerCase;
  if (/^\d{1,3}$/.test(word) && stopAt === word.length) return false;
  if (next === "") return true;
  if (/^(?:\p{Lu}|(?:\p{L}\.)+\p{L})$/u.test(word)) return false;
  return !ABBREVIATIONS.has(word.toLowerCase());
}

const ABBREVIATIONS: ReadonlySet<string> = new Set([
  ...["eg", "ie", "vs", "cf", "approx", "incl", "excl", "resp", "esp", "viz", "al", "ca"],
  ...["mr", "mrs", "ms", "dr", "prof", "st", "jr", "sr", "no", "nr", "fig", "figs", "sec", "ch", "vol"],
  ...["ed", "eds", "ref", "refs", "max", "min", "inc", "ltd", "corp", "co", "dept", "est"],
]);

function cutAtWord(text: string, limit: number): string {
  if (text.length <= limit) return text;
  if (limit === 0) return "";
  const whole = cutText(text, limit).slice(0, -"…".length);
  const blank = text[whole.length] === " " ? whole.length : whole.lastIndexOf(" ");
  // Text without blanks, such as Chinese, would lose everything at a word boundary.
  const shortened = blank >= limit / 2 ? whole.slice(0, blank) : whole;
  return `${shortened.replace(/[\s,;:]{1,8}$/, "")}…`;
}
