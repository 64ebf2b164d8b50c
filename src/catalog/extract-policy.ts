import type { Policy } from "../schema/entry.ts";
import { cutText } from "../util/cut-text.ts";

type Part = keyof Policy;

const PARTS: readonly Part[] = ["do", "dont", "edge_cases"];
const MOST_LINES = 5;
const LINE_CHARS = 160;
/** Longer descriptions are read this far. */
const MAX_READ = 8_000;

/** Openings of a sentence or heading that say which part it belongs to. The matched words are not repeated. */
const OPENINGS: readonly (readonly [part: Part, opening: RegExp])[] = [
  ["edge_cases", /^edge[ -]cases?\b\s*[:\u2013\u2014-]?\s*/i],
  ["edge_cases", /^(?=(?:if|when) (?:ambiguous|unsure|unclear|uncertain|not sure|in doubt)\b)/i],
  ["dont", /^(?:please )?(?:do not|don['’]t|do['’]?nts?|never|avoid)\b\s*/i],
  ["dont", /^(?:when )?not (?=(?:for|to use|to be used)\b)/i],
  ["dont", /^(?=this(?: tool)? (?:must|should) not\b)/i],
  ["do", /^(?:use|call|choose)(?: this| it| the)?(?: tool)? (?=(?:only )?(?:when|whenever|if)\b)/i],
  ["do", /^(?=only (?:use|call) (?:this |it )?(?:tool )?(?:when|if)\b)/i],
  ["do", /^(?=when to use\b|prefer .{1,120}? (?:over|to|instead of) )/i],
];

const BULLET = /^\s*(?:[-*•+]|\d{1,2}[.)])\s+/;
const MARKS = /^[#>*_\s]+|[*_\s]+$/g;

/**
 * Reads advice out of a description: sentences and lists that open with "Use when", "Do not", "Edge case", "Prefer …
 * over" and the like. Undefined if there is none.
 */
export function extractPolicy(description: string): Policy | undefined {
  const found: Record<Part, string[]> = { do: [], dont: [], edge_cases: [] };
  const add = (part: Part, text: string) => {
    const line = toLine(text);
    if (line !== "" && found[part].length < MOST_LINES && !found[part].includes(line)) found[part].push(line);
  };
  let section: Part | undefined;
  for (const raw of description.slice(0, MAX_READ).split("\n")) {
    const isBullet = BULLET.test(raw);
    const line = raw.replace(BULLET, "").replace(MARKS, "");
    if (line === "") continue;
    const heading = line.endsWith(":") ? openingOf(line)?.part : undefined;
    if (heading) section = heading;
    else if (isBullet && section) add(section, line);
    else {
      section = undefined;
      for (const sentence of line.split(SENTENCE_END)) {
        const opening = openingOf(sentence);
        if (opening) add(opening.part, opening.rest);
      }
    }
  }
  const parts = PARTS.filter((part) => found[part].length > 0);
  return parts.length === 0 ? undefined : Object.fromEntries(parts.map((part) => [part, found[part]]));
}

const SENTENCE_END = /(?<=[.!?])\s+(?=[\p{Lu}"'`*])/u;

function openingOf(sentence: string): { readonly part: Part; readonly rest: string } | undefined {
  for (const [part, opening] of OPENINGS) {
    const match = opening.exec(sentence);
    if (match) return { part, rest: sentence.slice(match[0].length) };
  }
  return undefined;
}

function toLine(text: string): string {
  const line = text.replace(/[.\s]+$/, "").replace(/\s+/g, " ");
  return cutText(line.charAt(0).toUpperCase() + line.slice(1), LINE_CHARS);
}
