import { LRUCache } from "lru-cache";
import { contentHash } from "../../base/util/content-hash.ts";
import { BARE_ENTRY } from "../../core/nouns/bare-entry.ts";
import type { EntryDraft } from "../../core/nouns/entry.ts";
import type { Source } from "../../core/nouns/source.ts";
import { createGateway } from "../../gateway/create-gateway.ts";
import type { Gateway } from "../../gateway/gateway-api.ts";

/** A tool as the AI SDK's `toolSearch` shows it to its `search` callback. */
export interface RankedTool {
  readonly name: string;
  readonly description?: string;
}

/** Names of the tools that a query calls for, best first. */
export type RankTools = (options: {
  readonly query: string;
  readonly tools: readonly RankedTool[];
}) => Promise<string[]>;

const LISTS_KEPT = 4;
const MOST_HITS = 50;
const DOMAIN = { name: "tools", description: "Tools.", scopes: [], rules: [] };

/**
 * Creates Keyhole's ranking for tools that are not in a gateway: the `search` callback of the AI SDK's own
 * `toolSearch`. The same list of tools is indexed once.
 *
 * @example
 * ```ts
 * import { createToolRanking } from "keyhole/ai-sdk";
 *
 * const rank = createToolRanking();
 * const tools = [{ name: "send_mail", description: "Send a mail." }, { name: "add", description: "Add numbers." }];
 * console.assert((await rank({ query: "write a mail", tools }))[0] === "send_mail");
 * ```
 */
export function createToolRanking(): RankTools {
  const gateways = new LRUCache<string, Gateway>({
    max: LISTS_KEPT,
    dispose: (gateway) => void gateway.close(),
  });
  return async ({ query, tools }) => {
    const key = contentHash(tools.map(({ name, description }) => [name, description ?? ""]));
    const indexed = gateways.get(key);
    const gateway =
      indexed ?? createGateway({ name: "tool-ranking", sources: [toSource(tools)], learning: false });
    if (!indexed) gateways.set(key, gateway);
    const { hits } = await gateway.ask({ query, limit: MOST_HITS, maxTokens: 25_000 });
    return hits.map(({ name }) => name);
  };
}

function toSource(tools: readonly RankedTool[]): Source {
  return {
    id: "tools",
    contents: async function* () {
      yield { domains: [DOMAIN], drafts: tools.map(toDraft) };
    },
  };
}

function toDraft({ name, description = name }: RankedTool, index: number): EntryDraft {
  return {
    ...BARE_ENTRY,
    kind: "tool",
    op: `tools.t${index}`,
    domain: DOMAIN.name,
    name,
    description: description || name,
    lane: "read",
    requiresConfirmation: false,
    extraction: null,
    call: async () => null,
  };
}
