import {
  type Instructions,
  type LanguageModel,
  type ModelMessage,
  NoSuchToolError,
  type PrepareStepFunction,
  type StepResult,
  type ToolCallRepairFunction,
  type ToolSet,
} from "ai";
import { problem } from "../../base/problems/problem.ts";
import { loadTokenCounter } from "../../base/tokens/tokens.ts";
import type { CallPolicy } from "../../core/calls/decide-call.ts";
import type { Principal } from "../../core/nouns/principal.ts";
import { renderWorkingMemory } from "../../core/operations/show-session.ts";
import { use, type WorkingMemory } from "../../core/sessions/working-memory.ts";
import type { NativeNames } from "../../core/surfaces/native-tools.ts";
import { type FaceOptions, faceApiOf } from "../../gateway/face-api.ts";
import type { Gateway } from "../../gateway/gateway-api.ts";
import { forModel, type TrimOptions, trimMessages } from "./messages.ts";
import { FOUND_NAMES } from "./named-tools.ts";
import { createSdkApprovals, type ModeOptions, type SdkApprovals } from "./sdk-tool.ts";
import { createFixedTools, createFoundTools } from "./tool-modes.ts";

/** Options of {@link toAISDKTools}. */
export interface AISDKToolsOptions {
  /** The caller. Default: the gateway's own principal. */
  readonly principal?: Principal;
  /** The conversation's session, from an earlier turn. Default: a new one. */
  readonly session?: string;
  /**
   * `discover`: starts with `tool_search`; each hit becomes a tool in the next step.
   * `fixed`: the same few tools on every request, so that prompt caches hold. Default: `discover`.
   */
  readonly mode?: "discover" | "fixed";
  /** How discovered tools are named: by the names their authors gave (default), or by ops. */
  readonly names?: NativeNames;
  /** Your own tools: always active, and remembered with the others. An entry with the same name gets another. */
  readonly ownTools?: ToolSet;
  /** Approver of calls: the application, by the AI SDK's tool approvals (default), or the gateway's `approve`. */
  readonly approvals?: "application" | "gateway";
  /** When long conversations are cut; `false` for never. */
  readonly trim?: TrimOptions | false;
}

/** The options of `generateText`, `streamText` and `ToolLoopAgent` for one turn of a conversation. */
export interface AISDKTools {
  /** Pass it to the next turn. */
  readonly session: string;
  readonly tools: ToolSet;
  /** Tells the model how to find tools. `prepareStep` adds what the session remembers and the messages lack. */
  readonly instructions: string;
  readonly prepareStep: PrepareStepFunction<ToolSet>;
  readonly onStepFinish: (step: Pick<StepResult<ToolSet>, "content">) => Promise<void>;
  /** Lets the call of an existing but undiscovered tool discover that tool, instead of refusing it. */
  readonly repairToolCall: ToolCallRepairFunction<ToolSet>;
}

/** The agent's own loop answers questions itself, and has a trace. */
interface LoopOptions
  extends Omit<AISDKToolsOptions, "approvals">,
    Pick<ModeOptions, "trace" | "hands" | "kept"> {
  readonly approvals?: AISDKToolsOptions["approvals"] | SdkApprovals;
  readonly policy?: Partial<CallPolicy>;
}

/** Shorter ids may occur in a text by chance. */
const SHORTEST_ID = 4;

/**
 * Creates the tools of a gateway for one turn of a conversation with a model of the AI SDK.
 *
 * @throws INVALID_INPUT if `ownTools` has a name that Keyhole needs
 * @example
 * ```ts
 * import { generateText } from "ai";
 * import { createGateway } from "keyhole";
 * import { toAISDKTools } from "keyhole/ai-sdk";
 * import { createScriptedModel } from "keyhole/testing";
 *
 * const gateway = createGateway({ domains: [] });
 * const model = createScriptedModel([{ text: "Hello." }]);
 * const { session, ...turn } = await toAISDKTools(gateway);
 * const { text } = await generateText({ ...turn, model, prompt: "Hi" });
 * console.assert(text === "Hello.");
 * await gateway.close();
 * ```
 */
export async function toAISDKTools(gateway: Gateway, options: AISDKToolsOptions = {}): Promise<AISDKTools> {
  // Applications spread the turn into the options of the AI SDK.
  const { firstTools: _, ...turn } = await createLoopTools(gateway, options);
  return turn;
}

/** Tools for a loop that approves calls itself and counts its context. */
export interface LoopTools extends AISDKTools {
  /** How many tools are there from the start; later ones follow them. */
  readonly firstTools: number;
}

export async function createLoopTools(gateway: Gateway, options: LoopOptions): Promise<LoopTools> {
  const { mode = "discover", ownTools = {}, trim } = options;
  const ownNames = new Set(Object.keys(ownTools));
  const principal = options.principal ?? (await gateway.view()).principal;
  const handle = options.session ?? (await gateway.openSession({ principal }));
  const openSession = () => gateway.session(handle, { principal });
  const session = await openSession();
  const { approvals: approver = "application", policy } = options;
  const call: FaceOptions = { principal, session: handle, ...(policy && { policy }) };
  const application = () => createSdkApprovals(gateway, call, openSession);
  const byName = { application, gateway: () => undefined };
  const approvals = typeof approver === "string" ? byName[approver]() : approver;
  const create = mode === "fixed" ? createFixedTools : createFoundTools;
  const disclosed = await create(gateway, { ...options, call, session, approvals, ownNames });
  refuseOwn(ownNames, mode === "fixed" ? Object.keys(disclosed.tools) : FOUND_NAMES);
  const countTokens = await loadTokenCounter();
  /** Returns the part of the session's memory that the messages lack. */
  const tellLacking = (memory: WorkingMemory, messages: readonly ModelMessage[]) =>
    renderWorkingMemory(unsaid(disclosed.lacking(memory), messages), countTokens);
  let lacking = "";
  return {
    session: handle,
    firstTools: ownNames.size + (disclosed.firstTools ?? Object.keys(disclosed.tools).length),
    tools: Object.assign(disclosed.tools, ownTools),
    instructions: disclosed.instructions,
    prepareStep: async ({ steps, messages, ...more }) => {
      const { memory } = await openSession();
      const readable = forModel(messages, (more as { model?: LanguageModel }).model);
      const sent = trim === false ? readable : trimMessages(readable, trim);
      const isCut = sent.length < messages.length;
      // A complete conversation needs no memory, and unchanged instructions keep the vendor's cache valid.
      if (steps.length === 0 || isCut) {
        lacking = !isCut && isWhole(messages, more) ? "" : tellLacking(memory, sent);
      }
      if (isCut) await session.update(forgetRules);
      const active = disclosed.active?.(steps, messages, memory);
      const shown = active ?? Object.keys(disclosed.tools);
      await faceApiOf(gateway).noteMenu(
        shown.flatMap((name) => disclosed.definition(name) ?? []),
        call,
      );
      return {
        toolChoice: "auto",
        ...(active && { activeTools: [...ownNames, ...active] }),
        ...((isCut || readable !== messages) && { messages: [...sent] }),
        ...(lacking !== "" && remind(lacking, sent, more, disclosed.instructions)),
      };
    },
    onStepFinish: async ({ content }) => {
      for (const part of content) {
        if (part.type === "tool-approval-request") await noteQuestion(part.toolCall, disclosed.tools);
        if (part.type !== "tool-result" && part.type !== "tool-error") continue;
        // The gateway remembers its own runs.
        if (!ownNames.has(part.toolName)) continue;
        const result = part.type === "tool-result" ? "success" : "error";
        await session.update((memory) => use(memory, { name: part.toolName, result, at: new Date() }));
      }
    },
    // A wrong input for a shown tool is for the model to correct.
    repairToolCall: async ({ toolCall, error }) =>
      NoSuchToolError.isInstance(error) ? disclosed.repair(toolCall) : null,
  };
}

function refuseOwn(names: ReadonlySet<string>, ours: readonly string[]): void {
  const taken = ours.filter((name) => names.has(name));
  if (taken.length === 0) return;
  const reason = `ownTools has ${taken.join(", ")}, which a tool of Keyhole's is called`;
  throw problem("INVALID_INPUT", { operation: "toAISDKTools", reason });
}

/** Records a question that the application's own approval rule asked: the tool was not asked about it. */
async function noteQuestion(
  { toolCallId, toolName, input }: { toolCallId: string; toolName: string; input: unknown },
  tools: ToolSet,
): Promise<void> {
  const { needsApproval } = tools[toolName] ?? {};
  if (typeof needsApproval === "function")
    await needsApproval(input, { toolCallId, messages: [], context: undefined });
}

/** Removes the entities that the messages mention from a memory. */
function unsaid(memory: WorkingMemory, messages: readonly ModelMessage[]): WorkingMemory {
  if (memory.entities.length === 0) return memory;
  // Images contain no ids and are large.
  const said = JSON.stringify(messages, (_key, value) => (ArrayBuffer.isView(value) ? undefined : value));
  const isSaid = (id: string) => id.length >= SHORTEST_ID && said.includes(id);
  return { ...memory, entities: memory.entities.filter(({ id }) => !isSaid(id)) };
}

/** Rules that were cut off come again with their entries. */
function forgetRules(memory: WorkingMemory): WorkingMemory {
  return { ...memory, rules: [] };
}

/** Whether the messages of a turn seem to be the whole conversation. */
function isWhole(
  messages: readonly ModelMessage[],
  { initialMessages = messages }: { readonly initialMessages?: readonly ModelMessage[] },
): boolean {
  return messages.length >= initialMessages.length && messages.some(({ role }) => role === "assistant");
}

/** Changes a step so that the model reads the memory. */
function remind(
  memory: string,
  messages: readonly ModelMessage[],
  step: { readonly initialInstructions?: Instructions | undefined },
  ownInstructions: string,
): { messages: ModelMessage[] } | { instructions: Instructions } {
  // Version 6 does not expose the instructions, so the memory cannot be added to them.
  if (!("initialInstructions" in step))
    return { messages: [{ role: "system", content: memory }, ...messages] };
  const instructions = step.initialInstructions ?? ownInstructions;
  if (typeof instructions === "string") return { instructions: `${instructions}\n\n${memory}` };
  return { instructions: [instructions, { role: "system" as const, content: memory }].flat() };
}
