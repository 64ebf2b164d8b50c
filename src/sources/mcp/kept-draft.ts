import type { EntryDraft, EntryStatus, KeptDraft, Origin, Visibility } from "../../schema/entry.ts";
import { contentHash } from "../../util/content-hash.ts";
import { toDefinition } from "./definition.ts";
import type { DraftOptions } from "./draft-options.ts";
import type { PackedTool } from "./packed-tools.ts";

/** Makes the whole draft of a tool at a route. */
type ToDraft = (tool: ReturnType<PackedTool["read"]>, route: string) => EntryDraft;

/** The part that all tools of a server share. */
export interface KeptServer {
  readonly options: DraftOptions;
  /** Whether a person has replaced fields of any tool. */
  readonly hasOverrides: boolean;
  /** Identifies everything beside the definition that makes an entry. */
  readonly digest: string;
  readonly toDraft: ToDraft;
}

export function keptServer(options: DraftOptions, toDraft: ToDraft): KeptServer {
  const { label, program, trusted, timeoutMs = null, lanes, tools, status = null } = options;
  const digest = contentHash([label, program, trusted, timeoutMs, lanes, tools, status]).slice(0, 16);
  return { options, digest, toDraft, hasOverrides: Object.keys(tools).length > 0 };
}

/** Drafts a tool from its name alone. Objects of one class with few fields, because there may be many. */
export function keptDraft(server: KeptServer, tool: PackedTool, route: string): KeptDraft {
  return new StoredDraft(server, tool, route);
}

class StoredDraft implements KeptDraft {
  readonly route: string;
  readonly #server: KeptServer;
  readonly #tool: PackedTool;

  constructor(server: KeptServer, tool: PackedTool, route: string) {
    this.route = route;
    this.#server = server;
    this.#tool = tool;
  }

  get kind(): "tool" {
    return "tool";
  }

  get domain(): string {
    return this.#server.options.label;
  }

  get name(): string {
    return this.#override?.name ?? this.#tool.name;
  }

  get phrases(): readonly string[] {
    const { title } = this.#tool;
    return title === undefined ? NONE : [title];
  }

  get visibility(): Visibility {
    return this.#override?.hidden ? "hidden" : "listed";
  }

  get status(): EntryStatus | undefined {
    return this.#server.options.status;
  }

  get origin(): Origin {
    return new StoredOrigin(this.#server.options, this.#tool);
  }

  get digest(): string {
    return this.#server.digest + this.#tool.shortHash;
  }

  read(): EntryDraft {
    const tool = this.#tool.read();
    const draft = this.#server.toDraft(tool, this.route);
    // Approvals are judged by the hash in the file, so a definition of another hash is shown to nobody.
    if (toDefinition(tool).hash === this.#tool.hash) return draft;
    return { ...draft, description: "", inputSchema: {}, presentation: {}, phrases: [], status: DAMAGED };
  }

  get #override() {
    const { hasOverrides, options } = this.#server;
    const { tools } = options;
    if (!hasOverrides) return undefined;
    return Object.hasOwn(tools, this.#tool.name) ? tools[this.#tool.name] : undefined;
  }
}

const NONE: readonly string[] = [];
const DAMAGED: EntryStatus = {
  state: "invalid",
  reason: "its definition is not the one that was listed; refresh its server",
};

class StoredOrigin implements Origin {
  readonly #options: DraftOptions;
  readonly #tool: PackedTool;

  constructor(options: DraftOptions, tool: PackedTool) {
    this.#options = options;
    this.#tool = tool;
  }

  get source(): string {
    return this.#options.label;
  }

  get program(): string {
    return this.#options.program;
  }

  get trusted(): boolean {
    return this.#options.trusted;
  }

  get hash(): string {
    return this.#tool.hash;
  }

  get poison(): readonly string[] {
    return this.#tool.poison;
  }

  get definition(): Origin["definition"] {
    return toDefinition(this.#tool.read()).content;
  }
}
