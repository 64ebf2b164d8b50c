import type { LanguageModel } from "ai";
import { loadTokenCounter } from "../../base/tokens/tokens.ts";
import { faceApiOf } from "../../gateway/face-api.ts";
import { type Compacted, compact, foldResults } from "../context/compact.ts";
import {
  type ContextRequest,
  countContext,
  type InstructionParts,
  joinTexts,
  totalOf,
} from "../context/count-context.ts";
import { modelFacts } from "../models/providers/model-facts.ts";
import type { Agent, AgentOptions, SessionState } from "./agent.ts";
import { toTokenUse } from "./agent-event.ts";
import { readAgentsFiles } from "./agents-files.ts";
import { disclose, modelOf, nameOf, toRequest } from "./model-request.ts";
import type { Untraced } from "./run-context.ts";
import { skillsText } from "./skills-for.ts";

/** Requests over this share of the window are summarized first. */
const COMPACT_AT = 0.8;
/** The share of the window that a request may have without its large old results, so that no summary is needed. */
const FOLDED_SHARE = 0.6;
/** The share of the window that the latest messages keep. */
const KEEP_SHARE = 0.2;
/** For models that nobody has told the window of. */
const DEFAULT_WINDOW = 128_000;

/** The tokens of a conversation's next request, without its prompt. */
export async function contextOf(agent: Agent, session: SessionState) {
  const turnTools = await disclose(agent, session);
  const instructions = await toInstructions(agent.options, turnTools.instructions);
  const model = await modelOf(agent);
  const request = await toRequest(turnTools, [], session, instructions, model);
  const counts = await countContext(request, await loadTokenCounter());
  return { counts, total: totalOf(counts), ...windowFor(agent, model), model: nameOf(model) };
}

/**
 * Makes the next request. If it would fill the window, the older part of the conversation is summarized first. The
 * provider's own count of the last request corrects ours, because every vendor counts differently.
 */
export async function fitContext(
  agent: Agent,
  session: SessionState,
  toNext: () => Promise<ContextRequest>,
  { model, signal, emit }: FitOptions & { readonly model: LanguageModel },
): Promise<{ readonly request: ContextRequest; readonly tokens: number }> {
  const count = async (request: ContextRequest) => {
    return { request, tokens: totalOf(await countContext(request, await loadTokenCounter())) };
  };
  const first = await count(await toNext());
  const { window } = windowFor(agent, model);
  const limit = Math.floor(window * (agent.options.compactAt ?? COMPACT_AT));
  if (first.tokens * session.scale <= limit) return first;
  if (await foldSession(agent, session, emit)) {
    const folded = await count(await toNext());
    // Unless that makes room for a while, the next turns would fill the window again.
    if (folded.tokens * session.scale <= window * FOLDED_SHARE) return folded;
  }
  const compacted = await compactSession(agent, session, { signal, emit, keep: KEEP_SHARE });
  return compacted ? count(await toNext()) : first;
}

/** Puts the large results of older turns behind handles and tells so. Returns false if there are none. */
async function foldSession(agent: Agent, session: SessionState, emit: FitOptions["emit"]): Promise<boolean> {
  const before = await countMessages(session);
  const { messages, folded } = await foldResults(session.shown, {
    countTokens: await loadTokenCounter(),
    store: storeFor(agent, session, "a result of an earlier turn"),
  });
  if (folded === 0) return false;
  session.shown = messages;
  const after = await countMessages(session);
  emit({ type: "context-compacted", by: "handles", replaced: folded, before, after });
  return true;
}

/** Keeps a text of the conversation where the model can read it again. */
function storeFor({ options: { gateway, principal } }: Agent, { handle }: SessionState, what: string) {
  return (text: string) =>
    faceApiOf(gateway).keep(text, what, { session: handle, ...(principal && { principal }) });
}

export interface FitOptions {
  readonly signal: AbortSignal;
  emit(event: Untraced): void;
}

/**
 * Summarizes a conversation and tells so. `keep` is the share of the window that the latest messages keep: 0 puts
 * everything into the summary, `turn` all but the last prompt and its steps.
 */
export async function compactSession(
  agent: Agent,
  session: SessionState,
  { keep, focus, signal, emit }: FitOptions & { readonly keep: number | "turn"; readonly focus?: string },
): Promise<Compacted | undefined> {
  const countTokens = await loadTokenCounter();
  const { window } = windowFor(agent, await modelOf(agent));
  const before = countMessages(session);
  const compacted = await compact(session.shown, {
    model: () => modelOf(agent),
    countTokens,
    window,
    keep: keep === "turn" ? keep : Math.floor(window * keep),
    store: storeFor(agent, session, "the older part of the conversation"),
    focus,
    signal,
  });
  if (!compacted) return undefined;
  session.shown = compacted.messages;
  // The cache is lost anyway, so tools that were found long ago go as well.
  session.tools = [];
  session.log?.compacted({ summary: compacted.summary, kept: compacted.messages.length - 1 });
  const { by, replaced, failure, spent } = compacted;
  if (spent) emit({ type: "llm-aside", by: "summary", usage: toTokenUse(spent.usage), model: spent.model });
  emit({
    type: "context-compacted",
    by,
    replaced,
    before: await before,
    after: await countMessages(session),
    ...(failure !== undefined && { failure }),
  });
  return compacted;
}

async function countMessages({ shown }: SessionState): Promise<number> {
  const nothing = { tools: {}, firstTools: 0, instructions: { instructions: "", project: "", skills: "" } };
  return totalOf(await countContext({ ...nothing, messages: [...shown] }, await loadTokenCounter()));
}

/** The window is assumed if nobody knows it for this model. */
function windowFor({ options }: Agent, model: LanguageModel) {
  const known = options.contextWindow ?? modelFacts(nameOf(model))?.window;
  return { window: known ?? DEFAULT_WINDOW, assumed: known === undefined };
}

/** The model's instructions, ordered from the most stable part to the most variable. */
export async function toInstructions(options: AgentOptions, disclosed: string): Promise<InstructionParts> {
  const { instructions = "", folder, userFolder } = options;
  const files = await readAgentsFiles(folder, userFolder);
  return {
    instructions: joinTexts(instructions, disclosed),
    project: joinTexts(
      ...files.map(({ path, text }) => `Instructions of the person or the project (${path}):\n${text}`),
    ),
    skills: await skillsText(options),
  };
}
