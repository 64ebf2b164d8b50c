import { loadTokenCounter } from "../../base/tokens/tokens.ts";
import { fieldsOf, isPlainObject, listOf } from "../../base/util/plain-object.ts";
import { splitWords } from "../../base/util/split-words.ts";
import { DOES, LANES, type ToolEntry } from "../../core/nouns/entry.ts";

/** A definition that a model will have trouble with. */
export interface LintFinding {
  readonly op: string;
  readonly rule: "missing" | "vague" | "collides" | "arguments" | "long" | "lane";
  readonly finding: string;
  /** A description to use instead, or what to declare. */
  readonly better?: string;
}

type Tool = Pick<
  ToolEntry,
  "op" | "domain" | "name" | "description" | "inputSchema" | "lane" | "isLaneGuessed"
>;

const FEW_WORDS = 4;
const MANY_TOKENS = 400;
/** Two descriptions with this share of common words say the same. */
const ALIKE = 0.8;
const EMPTY_WORDS = new Set(
  "a an and the this that for of to in on with by from is are it its your you use used uses using tool tools function helper utility various general perform performs operation operations handle handles do does data thing things stuff allows lets".split(
    " ",
  ),
);

/** Checks the definitions of tools. Deterministic. */
export async function lintEntries(tools: readonly Tool[]): Promise<LintFinding[]> {
  const countTokens = await loadTokenCounter();
  const read = tools.map((tool) => ({ tool, words: meaningOf(tool.description) }));
  return read.flatMap(({ tool, words }, index) => {
    const twin = read
      .slice(0, index)
      .find((other) => words.size > 2 && likeness(words, other.words) >= ALIKE);
    const tokens = countTokens(JSON.stringify([tool.name, tool.description, tool.inputSchema]));
    return [...lintTool(tool, words, twin?.tool, tokens)];
  });
}

function* lintTool(
  tool: Tool,
  words: ReadonlySet<string>,
  twin: Tool | undefined,
  tokens: number,
): Generator<LintFinding> {
  const { op, name, domain, description, inputSchema } = tool;
  const better = wordingOf(tool);
  const nameWords = new Set([...splitWords(name), ...splitWords(domain)].map(stem));
  const isEmpty = [...words].every((word) => nameWords.has(word));
  if (description.trim() === "" || description === name)
    yield { op, rule: "missing", finding: "it has no description", better };
  else if (isEmpty || words.size < FEW_WORDS) {
    const finding = isEmpty ? "its description says no more than its name" : "its description is vague";
    yield { op, rule: "vague", finding: `${finding}: ${JSON.stringify(description)}`, better };
  }
  if (twin) {
    const finding = `its description says the same as that of ${twin.op}`;
    yield { op, rule: "collides", finding, better: `${better} Unlike ${twin.op}: say when to use which.` };
  }
  const properties = Object.entries(fieldsOf(fieldsOf(inputSchema).properties));
  const silent = properties.filter(
    ([, schema]) => !isPlainObject(schema) || !(schema.description || schema.enum || schema.title),
  );
  if (silent.length >= 2 && silent.length >= properties.length / 2) {
    const names = silent.map(([argument]) => argument).join(", ");
    yield { op, rule: "arguments", finding: `arguments without a description: ${names}` };
  }
  if (tool.isLaneGuessed) {
    const finding = `it declares no lane, and its name does not tell one, so Keyhole guesses that it ${DOES[tool.lane]}`;
    const declared = `lane: ${JSON.stringify(tool.lane)}`;
    yield { op, rule: "lane", finding, better: `${declared}, or whichever of ${LANES.join(", ")} is true` };
  }
  if (tokens > MANY_TOKENS) {
    const finding = `its definition takes ${tokens} tokens in every request of a client that lists it`;
    yield { op, rule: "long", finding };
  }
}

/** A description made of what is known: the name, the server and the required arguments. */
function wordingOf({ name, domain, inputSchema }: Tool): string {
  const [verb = "use", ...things] = splitWords(name);
  const required = listOf(fieldsOf(inputSchema).required).map(String);
  const takes = required.length === 0 ? "" : ` Needs ${required.join(", ")}.`;
  const thing = things.length === 0 ? "" : ` ${things.join(" ")}`;
  return `${verb.charAt(0).toUpperCase()}${verb.slice(1)}${thing} in ${domain}.${takes} Say what it answers with and when to use it.`;
}

function meaningOf(text: string): Set<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return new Set(words.filter((word) => word.length > 1 && !EMPTY_WORDS.has(word)).map(stem));
}

/** Plural and third person count as the same word. */
function stem(word: string): string {
  return word.toLowerCase().replace(/(?:es|s)$/, "");
}

function likeness(left: ReadonlySet<string>, right: ReadonlySet<string>): number {
  const common = [...left].filter((word) => right.has(word)).length;
  return common / Math.max(1, left.size + right.size - common);
}
