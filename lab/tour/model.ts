import type {
  ScriptedCall,
  ScriptedReply,
  ScriptedRequest,
} from "../../src/testing/model-wire/scripted-exchange.ts";
import type { LabClient } from "../lab-client.ts";
import { findTool, type OfferedTool, offeredTools } from "../offered-tools.ts";
import { DONE } from "../script.ts";
import { toolResults } from "../tool-results.ts";
import type { Outcome, OutcomeCall } from "./outcomes.ts";
import type { Way } from "./tour.ts";

/** One call of the model, and the outcome that it serves. */
export interface Move {
  readonly call: ScriptedCall;
  readonly outcome: string;
  /** `call` brings the outcome about; the others prepare it. */
  readonly kind: "search" | "guess" | "call";
  /** The outcomes that a search looks for. */
  readonly needs?: readonly string[];
}

/**
 * A model that reaches the outcomes one by one. It calls what it can see: a tool of the request, or a name in the menu of
 * Keyhole. What it cannot see it searches for, with all needs that it cannot see at once, in the client's own way or by
 * `ask`. Arguments that it has only the names of it guesses once, and reads the error.
 */
export class TourModel {
  /** In order: the conversation itself says how many of them have been made. */
  readonly moves: Move[] = [];
  /** Outcomes for which no tool was found. */
  readonly lost: string[] = [];

  private readonly client: LabClient;
  private readonly outcomes: readonly Outcome[];
  /** Calls without which the client shows no tools: those of Keyhole are behind one more. */
  private readonly reveals: readonly ScriptedCall[];

  constructor(client: LabClient, outcomes: readonly Outcome[], way: Way) {
    this.client = client;
    this.outcomes = outcomes;
    this.reveals = (client.reveal ?? []).slice(0, way === "keyhole" ? undefined : -1);
  }

  reply = ({ body }: ScriptedRequest): ScriptedReply => {
    const offered = offeredTools(body);
    if (offered.length === 0) return { text: "Tour" };
    const results = toolResults(body).length;
    const move = this.moves[results] ?? this.decide(offered, body);
    if (!move) return { text: DONE };
    if (results === this.moves.length) this.moves.push(move);
    return { calls: [move.call] };
  };

  private decide(offered: readonly OfferedTool[], body: unknown): Move | undefined {
    const reveal = this.reveals[this.moves.length];
    if (reveal) return { outcome: "", kind: "search", call: reveal };
    const done = new Set(this.lost);
    for (const { kind, outcome } of this.moves) if (kind === "call") done.add(outcome);
    const waiting = this.outcomes.filter(({ id }) => !done.has(id));
    for (const outcome of waiting) {
      const move = this.moveFor(outcome, waiting, offered, body);
      if (move) return move;
      this.lost.push(outcome.id);
    }
    return undefined;
  }

  private moveFor(
    { id, need, call }: Outcome,
    waiting: readonly Outcome[],
    offered: readonly OfferedTool[],
    body: unknown,
  ): Move | undefined {
    const searches = this.moves.filter(({ needs }) => needs?.includes(id)).length;
    const ask = findTool(offered, "ask");
    const text = JSON.stringify(body);
    if (!call) {
      if (searches > 0 || this.showsAll(ask, text)) return undefined;
      return this.searchMove(id, offered, [{ id, need }]);
    }
    const tool = offeredTool(offered, call, this.client);
    if (tool) return { outcome: id, kind: "call", call: toCall(tool, call.args) };
    const found = ask ? undefined : this.foundTool(call, body);
    if (found) return { outcome: id, kind: "call", call: found };
    if (ask && isNamed(text, call)) return this.keyholeMove(id, call, offered, text);
    if (searches > 1 || (!ask && !this.client.search)) return undefined;
    const unseen = waiting.filter((other) => {
      if (!other.call) return !this.showsAll(ask, text);
      return !offeredTool(offered, other.call, this.client) && !(ask && isNamed(text, other.call));
    });
    return this.searchMove(id, offered, searches === 0 ? unseen : [{ id, need, call }]);
  }

  /** Whether the model can see that nothing fits a need. */
  private showsAll(ask: OfferedTool | undefined, text: string): boolean {
    return ask ? !/ and \d+ more/.test(text) : !this.client.search?.isBlind;
  }

  /** The call of a tool that a search of the client has shown, but that is not among the tools of the request. */
  private foundTool({ server, tool, args }: OutcomeCall, body: unknown): ScriptedCall | undefined {
    const { name, through } = this.client.search ?? {};
    const called = name?.(server, tool);
    if (!called || !toolResults(body).some(({ text }) => text.includes(called))) return undefined;
    return through?.(called, args) ?? { name: called, args };
  }

  /** Keyhole's own tools take the call by its name. */
  private keyholeMove(id: string, call: OutcomeCall, offered: readonly OfferedTool[], text: string): Move {
    const guessed = this.moves.some(({ outcome, kind }) => outcome === id && kind === "guess");
    const guess = call.guess && !guessed && !text.includes(call.guess.knows) ? call.guess : undefined;
    const args = guess?.args ?? call.args;
    const op = `${call.server}.${call.tool}`;
    const by = findTool(offered, call.by)!;
    const given = call.by === "get" ? { routes: [{ route: op, params: args }] } : { op, args };
    return { outcome: id, kind: guess ? "guess" : "call", call: toCall(by, given) };
  }

  private searchMove(outcome: string, offered: readonly OfferedTool[], needs: readonly Outcome[]): Move {
    const ask = findTool(offered, "ask");
    const queries = needs.map(({ need }) => need);
    const call = ask
      ? toCall(ask, queries.length === 1 ? { query: queries[0] } : { queries })
      : this.client.search!.call(needs);
    return { outcome, kind: "search", call, needs: needs.map(({ id }) => id) };
  }
}

export function toCall({ name, namespace }: OfferedTool, args: ScriptedCall["args"]): ScriptedCall {
  return { name, args, ...(namespace !== undefined && { namespace }) };
}

/** The tool itself in a request, behind the prefix of the client or alone. */
export function offeredTool(
  offered: readonly OfferedTool[],
  { server, tool }: Pick<OutcomeCall, "server" | "tool">,
  { hasBareNames }: LabClient,
): OfferedTool | undefined {
  const wanted = letters(hasBareNames ? tool : server + tool);
  return offered.find(({ name, namespace = "" }) => {
    const full = letters(namespace + name);
    return hasBareNames ? full === wanted : full.endsWith(wanted);
  });
}

/** Whether a menu or an answer of Keyhole names the tool. */
function isNamed(text: string, { server, tool }: OutcomeCall): boolean {
  const address = new RegExp(`\\b${server}(?:\\.|://tools/)${tool}(?![\\w-])`);
  const line = new RegExp(`- ${server}: (?:(?!\\\\n).)*?(?<![\\w-])${tool}(?![\\w-])`);
  return address.test(text) || line.test(text);
}

function letters(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}
