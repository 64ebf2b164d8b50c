import { cutText } from "../../base/util/cut-text.ts";
import type { Entity } from "../nouns/entry.ts";
import type { ReadConditions } from "./read-conditions.ts";

/** Causes of text in an agent's context. */
export const CAUSES = ["menu", "ask", "help", "results", "rules", "skills"] as const;
export type Cause = (typeof CAUSES)[number];

/** Tokens in an agent's context, by cause. */
export type Tokens = Readonly<Record<Cause, number>>;

export const NO_TOKENS: Tokens = { menu: 0, ask: 0, help: 0, results: 0, rules: 0, skills: 0 };

/** How often an entry was run in a session, and its last outcome. */
export interface ToolUse {
  /** Tools by op, everything else by route. */
  readonly name: string;
  readonly count: number;
  /** ISO timestamp. */
  readonly lastUsed: string;
  readonly lastResult: "success" | "error";
}

/** A result too large to show, which is read by its handle. */
export interface SessionResult {
  readonly handle: string;
  /** The entry that returned it: tools by op, everything else by route. */
  readonly name: string;
  readonly needs: ReadConditions;
}

/** An entity in a result. Entities that the application adds have no needs. */
export interface SessionEntity extends Entity {
  readonly needs?: ReadConditions;
}

/** Immutable record of what one conversation discovered, used and received. */
export interface WorkingMemory {
  /** In order of discovery: tools by op, skills and prompts by route. */
  readonly discoveredTools: readonly string[];
  /** Most recently used last. */
  readonly usedTools: readonly ToolUse[];
  /** Newest first. */
  readonly entities: readonly SessionEntity[];
  /** Ids of delivered rules. */
  readonly rules: readonly string[];
  /** Routes unveiled by guidance. */
  readonly unveiled: readonly string[];
  readonly results: readonly SessionResult[];
  /** Things that the conversation read or created: ids, long ids as hashes. */
  readonly read: readonly string[];
  /** Hashes of questions that the application was asked to approve. */
  readonly asked: readonly string[];
  /** Servers whose text tried to steer the model. */
  readonly steeredBy: readonly string[];
  /** Topics of the conversation, for condensing it. */
  readonly summary?: string;
  /** Tokens that Keyhole added to the conversation, by cause. */
  readonly tokens: Tokens;
}

/** A pure change of a memory. A store may apply it to a newer memory than the caller has seen. */
export type MemoryChange = (memory: WorkingMemory) => WorkingMemory;

export const EMPTY_MEMORY: WorkingMemory = {
  discoveredTools: [],
  usedTools: [],
  entities: [],
  rules: [],
  unveiled: [],
  results: [],
  read: [],
  asked: [],
  steeredBy: [],
  tokens: NO_TOKENS,
};

export const MOST_ENTITIES = 10;
/** Limit of tools, rules and routes each. The oldest are forgotten first. */
export const MOST_NAMES = 128;
export const MOST_RESULTS = 32;
const MOST_READ = 512;
const MOST_ASKED = 128;
export const SUMMARY_CHARS = 4_000;

export function discover(memory: WorkingMemory, names: readonly string[]): WorkingMemory {
  return { ...memory, discoveredTools: appendNew(memory.discoveredTools, names) };
}

export function use(
  memory: WorkingMemory,
  { name, result, at }: { readonly name: string; readonly result: ToolUse["lastResult"]; readonly at: Date },
): WorkingMemory {
  const earlier = memory.usedTools.find((tool) => tool.name === name);
  const others = memory.usedTools.filter((tool) => tool !== earlier);
  const used = { name, count: (earlier?.count ?? 0) + 1, lastUsed: at.toISOString(), lastResult: result };
  return { ...memory, usedTools: [...others, used].slice(-MOST_NAMES) };
}

/** Keeps the newest of each type and id, ten in total. */
export function meet(memory: WorkingMemory, entities: readonly SessionEntity[]): WorkingMemory {
  const newest = new Map<string, SessionEntity>();
  for (const entity of [...entities, ...memory.entities]) {
    if (Number.isNaN(+entity.timestamp)) continue;
    const key = `${entity.type.length} ${entity.type}${entity.id}`;
    const present = newest.get(key);
    if (!present || entity.timestamp > present.timestamp) newest.set(key, entity);
  }
  const window = [...newest.values()].sort((left, right) => +right.timestamp - +left.timestamp);
  return { ...memory, entities: window.slice(0, MOST_ENTITIES) };
}

export function deliverRules(memory: WorkingMemory, ids: readonly string[]): WorkingMemory {
  return { ...memory, rules: appendNew(memory.rules, ids) };
}

export function unveil(memory: WorkingMemory, routes: readonly string[]): WorkingMemory {
  return { ...memory, unveiled: appendNew(memory.unveiled, routes) };
}

/** Adds things that were read or created. */
export function noteRead(memory: WorkingMemory, marks: readonly string[]): WorkingMemory {
  if (marks.length === 0) return memory;
  const fresh = new Set(marks);
  const older = memory.read.filter((mark) => !fresh.has(mark));
  for (const mark of fresh) older.push(mark);
  return { ...memory, read: newest(older, MOST_READ) };
}

/** Adds questions about calls. */
export function noteAsked(memory: WorkingMemory, marks: readonly string[]): WorkingMemory {
  const fresh = new Set(marks).difference(new Set(memory.asked));
  return fresh.size === 0 ? memory : { ...memory, asked: newest([...memory.asked, ...fresh], MOST_ASKED) };
}

/** Adds servers whose text tried to steer the model. */
export function noteSteering(memory: WorkingMemory, servers: readonly string[]): WorkingMemory {
  return { ...memory, steeredBy: appendNew(memory.steeredBy, servers) };
}

export function keepResult(memory: WorkingMemory, result: SessionResult): WorkingMemory {
  const others = memory.results.filter(({ handle }) => handle !== result.handle);
  return { ...memory, results: [...others, result].slice(-MOST_RESULTS) };
}

export function bounded(memory: WorkingMemory): WorkingMemory {
  const { discoveredTools, usedTools, entities, rules, unveiled, results, read, asked } = memory;
  const { steeredBy, summary } = memory;
  return {
    ...memory,
    discoveredTools: newest(discoveredTools, MOST_NAMES),
    usedTools: newest(usedTools, MOST_NAMES),
    entities: meet(EMPTY_MEMORY, entities).entities,
    rules: newest(rules, MOST_NAMES),
    unveiled: newest(unveiled, MOST_NAMES),
    results: newest(results, MOST_RESULTS),
    read: newest(read, MOST_READ),
    asked: newest(asked, MOST_ASKED),
    steeredBy: newest(steeredBy, MOST_NAMES),
    ...(summary !== undefined && { summary: cutText(summary, SUMMARY_CHARS) }),
  };
}

function newest<T>(list: readonly T[], most: number): readonly T[] {
  return list.length > most ? list.slice(-most) : list;
}

function appendNew(existing: readonly string[], names: readonly string[]): readonly string[] {
  const fresh = new Set(names).difference(new Set(existing));
  return fresh.size === 0 ? existing : [...existing, ...fresh].slice(-MOST_NAMES);
}

export function addTokens(left: Tokens, right: Tokens): Tokens {
  const sum = { ...left };
  for (const cause of CAUSES) sum[cause] += right[cause];
  return sum;
}

export function sumTokens(tokens: Tokens): number {
  return CAUSES.reduce((sum, cause) => sum + tokens[cause], 0);
}
