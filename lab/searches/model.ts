import type { SetTool } from "../../bench/tool-sets.ts";
import type {
  ScriptedCall,
  ScriptedReply,
  ScriptedRequest,
} from "../../src/testing/model-wire/scripted-exchange.ts";
import type { LabClient } from "../lab-client.ts";
import { findTool, type OfferedTool, offeredTools } from "../offered-tools.ts";
import { DONE } from "../script.ts";
import { toolResults } from "../tool-results.ts";
import { offeredTool, toCall } from "../tour/model.ts";
import { keyOf, type LabQuery, letters } from "./catalogue.ts";

/** The beginning of a sub-agent's task. */
const TASK = "You are the second reader. Search with your tools for:";

/** One call of the model. */
export interface SearchMove {
  readonly step: "query" | "call" | "again" | "after" | "agent";
  /** The words that a search looks for. */
  readonly query?: string;
  readonly call: ScriptedCall;
}

/**
 * A model that sends each query to the search as it is; then calls a tool, again after its server was started again,
 * searches once more and calls once more; and gives the last query to a sub-agent.
 */
export class SearchModel {
  readonly moves: SearchMove[] = [];
  /** The requests of the sub-agent. */
  readonly agentRequests: unknown[] = [];

  private readonly client: LabClient;
  private readonly queries: readonly LabQuery[];
  private readonly restart: () => void;

  constructor(client: LabClient, queries: readonly LabQuery[], restart: () => void) {
    this.client = client;
    this.queries = queries;
    this.restart = restart;
  }

  reply = ({ body, messages }: ScriptedRequest): ScriptedReply => {
    const offered = offeredTools(body);
    if (offered.length === 0) return { text: "Searches" };
    const results = toolResults(body).length;
    if (messages.some(({ role, text }) => role === "user" && text.includes(TASK))) {
      this.agentRequests.push(body);
      return results > 0 ? { text: DONE } : { calls: [this.search(this.queries.at(-1)!.query, offered)] };
    }
    const move = this.moves[results] ?? this.decide(results, offered, body);
    if (!move) return { text: DONE };
    if (results === this.moves.length) this.moves.push(move);
    return { calls: [move.call] };
  };

  private decide(at: number, offered: readonly OfferedTool[], body: unknown): SearchMove | undefined {
    const query = this.queries[at];
    if (query) return this.queryMove(query, offered);
    const steps = this.moves.slice(this.queries.length);
    const found = this.foundCall(offered, body);
    if (found && steps.length === 0) return { step: "call", call: found.call };
    if (found && steps.length === 1) {
      this.restart();
      return { step: "again", call: found.call };
    }
    if (found && steps.length === 2) return this.queryMove(found.query, offered);
    if (found && steps.length === 3) return { step: "after", call: found.call };
    const task = this.client.subAgent?.(`${TASK} ${this.queries.at(-1)!.query}`);
    return task && steps.every(({ step }) => step !== "agent") ? { step: "agent", call: task } : undefined;
  }

  private queryMove({ query }: LabQuery, offered: readonly OfferedTool[]): SearchMove {
    return { step: "query", query, call: this.search(query, offered) };
  }

  private search(query: string, offered: readonly OfferedTool[]): ScriptedCall {
    const ask = findTool(offered, "ask");
    return ask ? toCall(ask, { query }) : this.client.search!.words!(query);
  }

  /** The call of a tool that only reads by its name and that a search has shown. */
  private foundCall(offered: readonly OfferedTool[], body: unknown) {
    const shown = namesIn(JSON.stringify(toolResults(body)));
    const exec = findTool(offered, "exec");
    for (const query of this.queries)
      for (const tool of query.gold.filter(({ name }) => /^(?:get|list|search|fetch|find|read)/.test(name))) {
        const target = { server: tool.server!, tool: tool.name };
        const args = sampleArgs(tool);
        const own = offeredTool(offered, target, this.client);
        if (own) return { query, call: toCall(own, args) };
        if (!shown.has(keyOf(tool))) continue;
        if (exec) return { query, call: toCall(exec, { op: `${tool.server}.${tool.name}`, args }) };
        const { name, through } = this.client.search!;
        const called = name!(target.server, target.tool);
        return { query, call: through?.(called, args) ?? { name: called, args } };
      }
    return undefined;
  }
}

/** Names of tools in a text, in the letters of their keys. */
export function namesIn(text: string): ReadonlySet<string> {
  const dotted = text.replaceAll("://tools/", ".");
  return new Set((dotted.match(/[\w.-]+/g) ?? []).map((name) => letters(name.replace(/^mcp_+/, ""))));
}

/** Arguments that a schema requires. */
function sampleArgs({ input_schema = { type: "object" } }: SetTool): Record<string, unknown> {
  const { required = [], properties = {} } = input_schema as {
    required?: string[];
    properties?: Record<string, { type?: string; enum?: unknown[] }>;
  };
  const samples: Record<string, unknown> = { integer: 1, number: 1, boolean: true, array: [], object: {} };
  return Object.fromEntries(
    required.map((name) => {
      const { type = "string", enum: values } = properties[name] ?? {};
      return [name, values?.[0] ?? samples[type] ?? "a"];
    }),
  );
}
