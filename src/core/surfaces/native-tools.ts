import type { JsonSchema } from "../../base/json-schema/json-schema.ts";
import { contentHash } from "../../base/util/content-hash.ts";
import { cutText } from "../../base/util/cut-text.ts";
import type { Entry, Lane, Presentation } from "../nouns/entry.ts";

/** A tool as offered to a model. */
export interface MenuTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly annotations: Readonly<Record<string, unknown>> & {
    readonly readOnlyHint?: boolean;
    readonly destructiveHint?: boolean;
  };
  /** This and all later fields: as the upstream server declares them. */
  readonly outputSchema?: JsonSchema;
  readonly execution?: { readonly taskSupport: "optional" };
  readonly icons?: readonly unknown[];
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** Naming of tools: by op, or by the author's name if it is unique. */
export type NativeNames = "ops" | "names";

/** Some model vendors refuse longer tool names. */
const NAME_CHARS = 64;
const HASH_CHARS = 8;
const HASHED = new RegExp(`_[0-9a-f]{${HASH_CHARS}}$`);
const DESCRIPTION_CHARS = 2_048;
const KINDS: ReadonlySet<Entry["kind"]> = new Set(["tool", "skill"]);

/**
 * Turns tools and skills into tools by name, in the same order. Documents and prompts are left out, because faces list
 * them separately. Names that the face refuses are replaced.
 */
export function nativeTools(
  all: readonly Entry[],
  names: NativeNames = "ops",
  refuses: (name: string) => boolean = () => false,
): Map<string, Entry> {
  const entries = all.filter((entry) => isNative(entry) && isOffered(entry));
  const namesByEntry = new Map(entries.map((entry) => [entry, wantedName(entry, names, refuses)]));
  const counts = new Map<string, number>();
  for (const name of namesByEntry.values()) counts.set(name, (counts.get(name) ?? 0) + 1);
  const hashed = new Set([...counts.keys()].some((name) => HASHED.test(name)) ? entries.map(hashedName) : []);
  // Entries that want the same name all lose it, so that their order does not matter. So does a name that looks like a
  // hashed fallback.
  const named = entries.map((entry): [string, Entry] => {
    const name = namesByEntry.get(entry)!;
    return [counts.get(name) === 1 && !hashed.has(name) ? name : hashedName(entry), entry];
  });
  return new Map(named);
}

/** Some vendors refuse a whole request if one tool name has a dot; `constructor` breaks plain objects. */
export function vendorsRefuse(name: string): boolean {
  return name.includes(".") || name in {};
}

/** Whether an entry becomes a tool when it is usable. */
export function isNative({ kind }: Pick<Entry, "kind">): boolean {
  return KINDS.has(kind);
}

/** Entries of a server that is briefly down stay, so that list and names do not change. */
function isOffered({ status }: Entry): boolean {
  return status === undefined || status.state === "server_down" || status.state === "needs_login";
}

/** Whether an entry is a tool that a client can be shown: a person has approved it. */
export const isOfferedTool = (entry: Entry): boolean => entry.kind === "tool" && isOffered(entry);

/** Passes on an upstream server's definition. The entry fills in missing fields. */
export function toNativeTool(name: string, entry: Entry): MenuTool {
  const { presentation, lane } = entry;
  const { title = entry.name, annotations, outputSchema, icons, runsAsTask, _meta } = presentation ?? {};
  return {
    name,
    title,
    description: presentation ? entry.description : cutText(entry.description, DESCRIPTION_CHARS),
    inputSchema: { ...entry.inputSchema, type: "object" } as JsonSchema,
    ...(outputSchema && { outputSchema }),
    annotations: toAnnotations(annotations, lane),
    // Clients may call a tool without a task even if its server runs it only as a task: Keyhole waits for the task.
    ...(runsAsTask && { execution: { taskSupport: "optional" as const } }),
    ...(icons && { icons }),
    ...(_meta && { _meta }),
  };
}

/** Passes on a server's hints, except those that promise more than the lane allows. */
function toAnnotations(hints: Presentation["annotations"], lane: Lane): MenuTool["annotations"] {
  if (!hints) return { readOnlyHint: lane === "read", destructiveHint: lane === "destructive" };
  return {
    ...hints,
    ...(hints.readOnlyHint === true && lane !== "read" && { readOnlyHint: false }),
    ...(hints.destructiveHint === false && lane === "destructive" && { destructiveHint: true }),
  };
}

function wantedName(entry: Entry, names: NativeNames, refuses: (name: string) => boolean): string {
  if (names === "names" && /^[\w.-]{1,64}$/.test(entry.name) && !refuses(entry.name)) return entry.name;
  const plain = plainName(entry.op);
  return plain.length <= NAME_CHARS && !refuses(plain) ? plain : hashedName(entry);
}

function hashedName(entry: Entry): string {
  const hash = contentHash(entry.route).slice(0, HASH_CHARS);
  return `${plainName(entry.op).slice(0, NAME_CHARS - HASH_CHARS - 1)}_${hash}`;
}

function plainName(op: string): string {
  return op.replace(/[^\w-]/g, "_");
}
