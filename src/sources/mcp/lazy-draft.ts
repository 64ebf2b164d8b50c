import type { Tool } from "@modelcontextprotocol/client";
import { contentHash } from "../../base/util/content-hash.ts";
import type { EntryDraft, EntryStatus, LazyDraft, Origin } from "../../core/nouns/entry.ts";
import type { Visibility } from "../../search/port/search-index.ts";
import { toDefinition } from "./definition.ts";
import { type DraftOptions, laneOverride, overrideOf } from "./entry-request.ts";
import type { PackedTool } from "./packed-tools.ts";

const NONE: readonly string[] = [];
const DAMAGED: EntryStatus = {
  state: "invalid",
  reason: "its definition is not the one that was listed; refresh its server",
};

/** The part that all tools of a server share. */
interface LazyServer {
  readonly options: DraftOptions;
  /** Digest of everything besides the definition that affects an entry. */
  readonly digest: string;
  readonly toDraft: (tool: Tool, route: string) => EntryDraft;
}

/** Returns a function that drafts tools of a server by name only. */
export function createLazyDrafts(
  options: DraftOptions,
  toDraft: LazyServer["toDraft"],
): (tool: PackedTool, route: string) => LazyDraft {
  const { label, program, trusted, timeoutMs = null, lanes, tools, askTools, status = null } = options;
  const digest = contentHash([label, program, trusted, timeoutMs, lanes, tools, askTools, status]).slice(
    0,
    16,
  );
  const server: LazyServer = { options, digest, toDraft };
  return (tool, route) => new LazyToolDraft(server, tool, route);
}

/** One class with few fields, because there may be 100,000 objects (`npm run bench -- catalog`). */
class LazyToolDraft implements LazyDraft {
  readonly route: string;
  readonly #server: LazyServer;
  readonly #tool: PackedTool;

  constructor(server: LazyServer, tool: PackedTool, route: string) {
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
    return overrideOf(this.#tool.name, this.#server.options).name ?? this.#tool.name;
  }

  get phrases(): readonly string[] {
    const { title } = this.#tool;
    return title === undefined ? NONE : [title];
  }

  get visibility(): Visibility {
    return overrideOf(this.#tool.name, this.#server.options).hidden ? "hidden" : "listed";
  }

  get status(): EntryStatus | undefined {
    return this.#server.options.status;
  }

  /** Reads the definition and its judgement only on demand. */
  get origin(): Origin {
    const { label: source, program, trusted, wordingOk, approvedBy } = this.#server.options;
    const tool = this.#tool;
    return {
      source,
      program,
      trusted,
      wordingOk,
      approvedBy,
      lane: laneOverride(tool.name, this.#server.options),
      get hash() {
        return tool.hash;
      },
      get injection() {
        return tool.injection;
      },
      get definition() {
        return toDefinition(tool.read()).content;
      },
    };
  }

  get digest(): string {
    return this.#server.digest + this.#tool.shortHash;
  }

  read(): EntryDraft {
    const tool = this.#tool.read();
    const draft = this.#server.toDraft(tool, this.route);
    // Approvals use the hash in the file: never show a definition with another hash.
    if (toDefinition(tool).hash === this.#tool.hash) return draft;
    return { ...draft, description: "", inputSchema: {}, presentation: {}, phrases: [], status: DAMAGED };
  }
}
