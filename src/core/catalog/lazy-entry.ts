import { toVisibleText } from "../../base/safety/visible-text.ts";
import { BARE_ENTRY } from "../nouns/bare-entry.ts";
import type { EntryDraft, LazyDraft, ToolEntry } from "../nouns/entry.ts";

/** Makes the whole entry of a draft. */
type Complete = (draft: EntryDraft) => ToolEntry;

export interface KeptEntryOptions {
  readonly draft: LazyDraft;
  readonly op: string;
  readonly scopes: readonly string[];
  readonly complete: Complete;
}

const NAME_CHARS = 256;
/** The number of entries that stay whole: a usual catalog is read once, and a large one does not fill the memory. */
const MOST_WHOLE = 2_048;
const whole: LazyEntry[] = [];
let oldest = 0;

/** An entry whose definition is read when more than its address is needed. */
export class LazyEntry implements ToolEntry {
  readonly route: string;
  readonly op: string;
  readonly scopes: readonly string[];
  readonly name: string;
  readonly #draft: LazyDraft;
  readonly #complete: Complete;
  #whole: ToolEntry | undefined;

  constructor({ draft, op, scopes, complete }: KeptEntryOptions) {
    this.route = draft.route;
    this.op = op;
    this.scopes = scopes;
    this.name = toVisibleText(draft.name, NAME_CHARS);
    this.#draft = draft;
    this.#complete = complete;
  }

  get #read(): ToolEntry {
    if (this.#whole) return this.#whole;
    const made = this.#complete(this.#draft.read());
    const forgotten = whole[oldest];
    if (forgotten) forgotten.#whole = undefined;
    whole[oldest] = this;
    oldest = (oldest + 1) % MOST_WHOLE;
    this.#whole = made;
    return made;
  }

  get kept(): LazyDraft {
    return this.#draft;
  }

  get kind(): "tool" {
    return "tool";
  }

  get domain(): string {
    return this.#draft.domain;
  }

  get visibility() {
    return this.#draft.visibility;
  }

  get phrases(): readonly string[] {
    const { phrases } = this.#draft;
    return phrases.length === 0 ? phrases : phrases.map((phrase) => toVisibleText(phrase, NAME_CHARS));
  }

  get origin() {
    return this.#draft.origin;
  }

  get status() {
    return this.#draft.status ?? this.#read.status;
  }

  get tags() {
    return BARE_ENTRY.tags;
  }

  get aliases() {
    return BARE_ENTRY.aliases;
  }

  get related() {
    return BARE_ENTRY.related;
  }

  get guidance() {
    return BARE_ENTRY.guidance;
  }

  get examples() {
    return BARE_ENTRY.examples;
  }

  get notes() {
    return BARE_ENTRY.notes;
  }

  get metadata() {
    return BARE_ENTRY.metadata;
  }

  get description() {
    return this.#read.description;
  }

  get lane() {
    return this.#read.lane;
  }

  get inputSchema() {
    return this.#read.inputSchema;
  }

  get outside() {
    return this.#read.outside;
  }

  get presentation() {
    return this.#read.presentation;
  }

  get riskLevel() {
    return this.#read.riskLevel;
  }

  get requiresConfirmation() {
    return this.#read.requiresConfirmation;
  }

  get extraction() {
    return this.#read.extraction;
  }

  get policy() {
    return this.#read.policy;
  }

  get timeoutMs() {
    return this.#read.timeoutMs;
  }

  get call() {
    return this.#read.call;
  }
}
