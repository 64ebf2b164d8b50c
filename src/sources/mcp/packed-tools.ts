import type { Tool } from "@modelcontextprotocol/client";
import { findInjection, injectionRules } from "../../base/safety/detect-injection.ts";
import { toDefinition } from "./definition.ts";

/** The stored data of tools, except their definitions. */
export interface ToolIndex {
  readonly names: readonly string[];
  /** Bytes of each definition. */
  readonly sizes: readonly number[];
  /** Titles that differ from names, by position. */
  readonly titles: Readonly<Record<string, string>>;
  /** Signs of injection in definitions, by position. */
  readonly injection: Readonly<Record<string, readonly string[]>>;
  /** Version of the rules behind `injection`. Other rules check the definitions again. */
  readonly rules: string;
}

/** A tool of a listing. Its definition is read on demand: a server may have thousands. */
export type PackedTool = Pick<StoredTool, "name" | "title" | "hash" | "shortHash" | "injection" | "read">;

const HASH_BYTES = 32;
const SHORT_BYTES = 18;

/** One buffer for all tools: first their hashes, then the JSON of each. Avoids an object for each definition. */
export interface PackedTools {
  readonly tools: readonly PackedTool[];
  readonly index: ToolIndex;
  readonly bytes: Buffer;
}

/**
 * Packs tools sorted by name, so that starts need not sort them. Definitions that did not change since `before` are not
 * judged again: the first call of a session waits for this (`node lab/tour/first-call.ts`).
 */
export function packTools(listed: readonly Tool[], before?: PackedTools): PackedTools {
  const tools = listed.toSorted(({ name }, { name: other }) => (name < other ? -1 : name > other ? 1 : 0));
  const definitions = tools.map((tool) => Buffer.from(JSON.stringify(tool)));
  const approved = tools.map(toDefinition);
  const hashes = approved.map(({ hash }) => Buffer.from(hash, "hex"));
  const titles = tools.flatMap(({ name, title }, at) =>
    title === undefined || title === name ? [] : [[at, title]],
  );
  const judged = new Map(before?.tools.map((tool) => [tool.hash, tool]));
  const injection = approved.flatMap(({ content, hash }, at) => {
    const rules = judged.get(hash)?.injection ?? findInjection(content);
    return rules.length === 0 ? [] : [[at, rules]];
  });
  const index: ToolIndex = {
    names: tools.map(({ name }) => name),
    sizes: definitions.map(({ length }) => length),
    titles: Object.fromEntries(titles),
    injection: Object.fromEntries(injection),
    rules: injectionRules(),
  };
  return openTools(index, Buffer.concat([...hashes, ...definitions]))!;
}

/** Opens tools of {@link packTools}. Undefined if the parts do not match. */
export function openTools(index: ToolIndex, bytes: Buffer): PackedTools | undefined {
  const ends = [index.names.length * HASH_BYTES];
  for (const at of index.names.keys()) ends.push(ends[at]! + (index.sizes[at] ?? Number.NaN));
  const pack = { index, bytes, ends, isJudged: index.rules === injectionRules() };
  const tools = index.names.map((_, at) => new StoredTool(pack, at));
  return ends.at(-1) === bytes.length ? { tools, index, bytes } : undefined;
}

interface Pack {
  readonly index: ToolIndex;
  readonly bytes: Buffer;
  /** The end of the hashes, then of each definition. */
  readonly ends: readonly number[];
  /** Whether the current rules produced the index's `injection`. */
  readonly isJudged: boolean;
}

class StoredTool {
  readonly #pack: Pack;
  readonly #at: number;

  constructor(pack: Pack, at: number) {
    this.#pack = pack;
    this.#at = at;
  }

  get name(): string {
    return this.#pack.index.names[this.#at]!;
  }

  /** The title, if it differs from the name. */
  get title(): string | undefined {
    return this.#pack.index.titles[this.#at];
  }

  /** Hash of the definition that a person approves. */
  get hash(): string {
    return this.#pack.bytes.toString("hex", this.#at * HASH_BYTES, (this.#at + 1) * HASH_BYTES);
  }

  /** The first part of the hash. */
  get shortHash(): string {
    const start = this.#at * HASH_BYTES;
    return this.#pack.bytes.toString("base64", start, start + SHORT_BYTES);
  }

  /** The ways in which the definition tries to steer a model. */
  get injection(): readonly string[] {
    if (this.#pack.isJudged) return this.#pack.index.injection[this.#at] ?? [];
    return findInjection(toDefinition(this.read()).content);
  }

  read(): Tool {
    const { bytes, ends } = this.#pack;
    return JSON.parse(bytes.toString("utf8", ends[this.#at], ends[this.#at + 1]));
  }
}
