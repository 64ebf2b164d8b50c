import { toVisibleText } from "../../base/safety/visible-text.ts";
import { BARE_ENTRY } from "../nouns/bare-entry.ts";
import type { EntryDraft, LazyDraft, ToolEntry } from "../nouns/entry.ts";

interface LazyEntryOptions {
  readonly draft: LazyDraft;
  readonly op: string;
  readonly scopes: readonly string[];
  readonly complete: (draft: EntryDraft) => ToolEntry;
}

const NAME_CHARS = 256;
/** Whole entries in memory: enough for a usual catalog, and a bound for a large one. */
const MOST_WHOLE = 2_048;
const recent: LazyEntry[] = [];
let oldest = 0;

/** Creates an entry whose definition is read when more than its address is needed. */
export function createLazyEntry(options: LazyEntryOptions): ToolEntry {
  return new LazyEntry(options) as Partial<ToolEntry> as ToolEntry;
}

/** Fields that are empty in a lazy draft. */
const BARE = ["tags", "aliases", "related", "guidance", "examples", "notes", "metadata"] as const;
/** Fields that need the whole entry. */
const WHOLE = [
  ...(["description", "lane", "inputSchema", "outside", "presentation"] as const),
  ...(["requiresConfirmation", "ask", "extraction", "policy", "timeoutMs", "call"] as const),
];

class LazyEntry implements Partial<ToolEntry> {
  readonly route: string;
  readonly op: string;
  readonly scopes: readonly string[];
  readonly name: string;
  readonly #draft: LazyDraft;
  readonly #complete: LazyEntryOptions["complete"];
  #whole: ToolEntry | undefined;

  static {
    for (const field of BARE) Object.defineProperty(LazyEntry.prototype, field, { value: BARE_ENTRY[field] });
    for (const field of WHOLE) {
      const get = function (this: LazyEntry) {
        return this.#read[field];
      };
      Object.defineProperty(LazyEntry.prototype, field, { get });
    }
  }

  constructor({ draft, op, scopes, complete }: LazyEntryOptions) {
    this.route = draft.route;
    this.op = op;
    this.scopes = scopes;
    this.name = toVisibleText(draft.name, NAME_CHARS);
    this.#draft = draft;
    this.#complete = complete;
  }

  get #read(): ToolEntry {
    if (this.#whole) return this.#whole;
    this.#whole = this.#complete(this.#draft.read());
    const forgotten = recent[oldest];
    if (forgotten) forgotten.#whole = undefined;
    recent[oldest] = this;
    oldest = (oldest + 1) % MOST_WHOLE;
    return this.#whole;
  }

  get lazy() {
    return this.#draft;
  }

  get kind() {
    return "tool" as const;
  }

  get domain() {
    return this.#draft.domain;
  }

  get visibility() {
    return this.#draft.visibility;
  }

  get phrases(): readonly string[] {
    return this.#draft.phrases.map((phrase) => toVisibleText(phrase, NAME_CHARS));
  }

  get origin() {
    return this.#draft.origin;
  }

  get status() {
    return this.#draft.status ?? this.#read.status;
  }
}
