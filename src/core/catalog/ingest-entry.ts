import { cleanSchema, hidesData, readSchema } from "../../base/json-schema/check-schema.ts";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import { toJson } from "../../base/util/to-json.ts";
import type { Entry, Example, Policy, Presentation, ToolEntry } from "../nouns/entry.ts";

const NAME_CHARS = 256;
const TEXT_CHARS = 16_384;
/** Enough for icons, which are passed on unread. */
const PASSED_ON_CHARS = 65_536;

/**
 * Makes an entry fit to be shown: no source is trusted. Cleans and cuts text. An entry with a refused schema stays
 * listed as invalid, so that it does not disappear silently.
 */
export function ingestEntry<T extends Entry>(entry: T): T {
  const read = readSchema(entry.inputSchema);
  const { category, presentation } = entry;
  const description = cleanProse(entry.description);
  const policy = entry.kind === "tool" ? policyOf(entry as ToolEntry, description) : undefined;
  return {
    ...entry,
    name: cleanName(entry.name),
    description,
    tags: entry.tags.map(cleanName),
    aliases: entry.aliases.map(cleanName),
    phrases: entry.phrases.map(cleanName),
    notes: entry.notes.map(cleanProse),
    guidance: entry.guidance.map((step) => ({ ...step, prose: cleanProse(step.prose) })),
    examples: entry.examples.filter(({ args }) => !hidesArgs(args)).map(cleanExample),
    inputSchema: read.ok ? cleanSchema(read.schema) : {},
    ...(category !== undefined && { category: cleanName(category) }),
    ...(policy && { policy }),
    ...(presentation && { presentation: cleanPresentation(presentation) }),
    ...(!read.ok && {
      status: { state: "invalid" as const, reason: cleanProse(`its schema is refused: ${read.reason}.`) },
    }),
  };
}

function cleanName(text: string): string {
  return toVisibleText(text, NAME_CHARS);
}

function cleanProse(text: string): string {
  return toVisibleText(text, TEXT_CHARS);
}

function cleanExample({ args, note }: Example): Example {
  return { args, ...(note !== undefined && { note: cleanProse(note) }) };
}

/** Also true for args that are not JSON. */
function hidesArgs(args: Example["args"]): boolean {
  const json = toJson(args);
  return !json.ok || hidesData(json.value);
}

/** The author's policy, or else the advice in the description. */
function policyOf({ policy }: ToolEntry, description: string): Policy | undefined {
  return policy ? cleanPolicy(policy) : extractPolicy(description);
}

function cleanPolicy(policy: Policy): Policy {
  return Object.fromEntries(Object.entries(policy).map(([part, lines]) => [part, lines?.map(cleanProse)]));
}

/** Cleans text, leaves data alone, and drops fields that are too large. */
function cleanPresentation(presentation: Presentation): Presentation {
  const { title, annotations, outputSchema, icons, size, runsAsTask, _meta } = presentation;
  const named = typeof annotations?.title === "string" && { title: cleanName(annotations.title) };
  const read = outputSchema && readSchema(outputSchema);
  return {
    ...(title !== undefined && { title: cleanName(title) }),
    ...(isModest(annotations) && { annotations: { ...annotations, ...named } }),
    ...(read?.ok && { outputSchema: cleanSchema(read.schema) }),
    ...(isModest(icons) && { icons }),
    ...(size !== undefined && { size }),
    ...(runsAsTask && { runsAsTask }),
    ...(isModest(_meta) && { _meta }),
  };
}

function isModest<T>(value: T | undefined): value is T {
  if (value === undefined) return false;
  const json = toJson(value);
  return json.ok && JSON.stringify(json.value).length <= PASSED_ON_CHARS;
}

type PolicyPart = keyof Policy;

const PARTS: readonly PolicyPart[] = ["do", "dont", "edgeCases"];
const MOST_LINES = 5;
/** Longer rules are left out: half a rule may say the opposite. */
const LINE_CHARS = 240;
/** Descriptions are read up to here. */
const MAX_READ = 8_000;

/** Openings of a sentence or heading that select a part. The matched words are not repeated. */
const OPENINGS: readonly (readonly [part: PolicyPart, opening: RegExp])[] = [
  ["edgeCases", /^edge[ -]cases?\b\s*[:\u2013\u2014-]?\s*/i],
  ["edgeCases", /^(?=(?:if|when) (?:ambiguous|unsure|unclear|uncertain|not sure|in doubt)\b)/i],
  ["dont", /^(?:please )?(?:do not|don['’]t|do['’]?nts?|never|avoid)\b(?!\s*(?:hesitate|worry)\b)\s*/i],
  ["dont", /^(?:when )?not (?=(?:for|to use|to be used)\b)/i],
  ["dont", /^(?=this(?: tool)? (?:must|should) not\b)/i],
  ["do", /^(?:use|call|choose)(?: this| it| the)?(?: tool)? (?=(?:only )?(?:when|whenever|if)\b)/i],
  ["do", /^(?=only (?:use|call) (?:this |it )?(?:tool )?(?:when|if)\b)/i],
  ["do", /^(?=when to use\b|prefer .{1,120}? (?:over|to|instead of) )/i],
  ["do", /^(?=ALWAYS [a-z])/],
];
/** A heading for a list of conditions and actions. */
const CONDITIONS =
  /^(?:[A-Z]{3,}|[Uu]se|[Cc]all|[Cc]hoose|[Cc]reate|[Aa]dd|[Uu]pdate|[Dd]elete|[Ss]end)\b.{0,80}\b(?:when|whenever|if)\s*:$/;
const USES = /^(?:use|call|choose)(?: this| it| the)?(?: tool)?(?: only)? (?:for|to)\s*:$/i;
const TICK = /^(?:✅|✔|✓|☑)\uFE0F?\s*/u;
const CROSS = /^(?:❌|✗|✘|🚫|⛔)\uFE0F?\s*/u;
const CALLS_FOR_ATTENTION = /^(?:important|critical|note|warning|attention|caution)\s*:\s*/i;

const BULLET = /^\s*(?:[-*•+]|\d{1,2}[.)])\s+/;
const MARKS = /^[#>*_\s]+|[*_\s]+$/g;

/**
 * Extracts advice from a description: sentences and lists that open with "Use when", "Do not", "Edge case", "Prefer …
 * over" and the like. Undefined if there is none.
 */
export function extractPolicy(description: string): Policy | undefined {
  const advice: Record<PolicyPart, string[]> = { do: [], dont: [], edgeCases: [] };
  const add = (part: PolicyPart, text: string) => {
    const line = toLine(text);
    if (line !== "" && advice[part].length < MOST_LINES && !advice[part].includes(line))
      advice[part].push(line);
  };
  let section: PolicyPart | undefined;
  for (const raw of description.slice(0, MAX_READ).split("\n")) {
    const isBullet = BULLET.test(raw);
    const line = raw.replace(BULLET, "").replace(MARKS, "").replace(CALLS_FOR_ATTENTION, "");
    if (line === "") continue;
    const heading = line.endsWith(":") ? sectionOf(line) : undefined;
    if (heading) section = heading;
    else if (TICK.test(line)) add("do", line.replace(TICK, ""));
    else if (CROSS.test(line)) add("dont", ruleOf(line.replace(CROSS, "")));
    else if (isBullet && section) add(section, line);
    else {
      section = undefined;
      for (const sentence of line.split(SENTENCE_END)) {
        const opening = openingOf(sentence);
        if (opening) add(opening.part, opening.rest);
      }
    }
  }
  const parts = PARTS.filter((part) => advice[part].length > 0);
  return parts.length === 0 ? undefined : Object.fromEntries(parts.map((part) => [part, advice[part]]));
}

const SENTENCE_END = /(?<=[.!?])(?<!\b(?:e\.g|i\.e|etc|vs|cf)\.)\s+(?=[\p{Lu}"'`*])/u;

/** The part for the list below a heading: `When to use:`, `CREATE a task when:`, `Do not create one for:`. */
function sectionOf(heading: string): PolicyPart | undefined {
  return openingOf(heading)?.part ?? (CONDITIONS.test(heading) || USES.test(heading) ? "do" : undefined);
}

/** Removes the words that select the part. */
function ruleOf(line: string): string {
  const opening = openingOf(line);
  return opening?.part === "dont" ? opening.rest : line;
}

function openingOf(sentence: string): { readonly part: PolicyPart; readonly rest: string } | undefined {
  for (const [part, opening] of OPENINGS) {
    const match = opening.exec(sentence);
    if (match) return { part, rest: sentence.slice(match[0].length) };
  }
  return undefined;
}

function toLine(text: string): string {
  const line = text.replace(/[.\s]+$/, "").replace(/\s+/g, " ");
  return line.length > LINE_CHARS ? "" : line.charAt(0).toUpperCase() + line.slice(1);
}
