import type { Entry, Example, Policy, Presentation, ToolEntry } from "../schema/entry.ts";
import { toJson } from "../util/to-json.ts";
import { toVisibleText } from "../util/visible-text.ts";
import { readSchema } from "./check-schema.ts";
import { cleanSchema, hidesData } from "./clean-schema.ts";
import { extractPolicy } from "./extract-policy.ts";

const NAME_CHARS = 256;
const TEXT_CHARS = 16_384;
/** Data that is only passed on may be pictures, but is no place to store things in. */
const PASSED_ON_CHARS = 65_536;

/**
 * Makes an entry fit to be shown: no source is trusted. Text is cleaned and cut. An entry whose schema is refused
 * stays listed as invalid, so that it is not silently missing.
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

/** Args that are no JSON are shown to nobody either. */
function hidesArgs(args: Example["args"]): boolean {
  const json = toJson(args);
  return !json.ok || hidesData(json.value);
}

/** An author's own policy stands; otherwise the description's advice is one. */
function policyOf({ policy }: ToolEntry, description: string): Policy | undefined {
  return policy ? cleanPolicy(policy) : extractPolicy(description);
}

function cleanPolicy(policy: Policy): Policy {
  return Object.fromEntries(Object.entries(policy).map(([part, lines]) => [part, lines?.map(cleanProse)]));
}

/** Cleans text, leaves data as it is, and leaves out what is too much. */
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
