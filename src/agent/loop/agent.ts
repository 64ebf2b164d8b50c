import type { LanguageModel, ModelMessage, ToolSet } from "ai";
import { isProblem } from "../../base/problems/problem.ts";
import type { Principal } from "../../core/nouns/principal.ts";
import type { Gateway } from "../../gateway/gateway-api.ts";
import type { Skill } from "../../sources/markdown/skills/skill.ts";
import type { PermissionMode } from "../permissions/permission.ts";
import type { Permissions } from "../permissions/permissions.ts";
import type { AgentEvent } from "./agent-event.ts";
import { closeHistory } from "./history.ts";
import { createSessionId } from "./read-session.ts";
import type { Ask, HookedCall } from "./run-context.ts";
import type { SessionLog, SessionLogs } from "./session-log.ts";

/** A model of the AI SDK, or a function that returns one for each run. */
export type AgentModel = LanguageModel | (() => ModelGiven | Promise<ModelGiven>);
/** A model, or a response of `keyhole/models` with a model or a failure. */
export type ModelGiven =
  | LanguageModel
  | { readonly success: true; readonly result: LanguageModel }
  | { readonly success: false; readonly error: string; readonly message: string };

/** Limits of one run. */
export interface AgentLimits {
  /** Requests to the model. Default: 30. */
  readonly steps: number;
  /** Input and output tokens. Default: 1,000,000. */
  readonly tokens: number;
  /** How often the same call runs without a new call in between. Default: 3. */
  readonly sameCalls: number;
}

/** Called at points of a run. A hook must not throw. */
export interface AgentHooks {
  /** Returns text that the model reads after the prompt. */
  prompt?(prompt: string): Promise<string | undefined>;
  /** Asked about every call of the model, and about every tool that runs in it. Returns a reason to refuse. */
  beforeTool?(call: HookedCall): Promise<string | undefined>;
  /** Returns text that the model reads after the result. */
  afterTool?(call: HookedCall & { readonly ok: boolean; readonly text: string }): Promise<string | undefined>;
  /** Runs when a run has ended. */
  end?(run: { readonly outcome: string; readonly text: string }): Promise<void>;
}

/** Options of {@link createAgent}. */
export interface AgentOptions {
  readonly gateway: Gateway;
  readonly model: AgentModel;
  /** `discover`: tools appear as they are found; `fixed`: the same few on every request. Default: `discover`. */
  readonly mode?: "discover" | "fixed";
  /** The principal that the agent acts for. Default: the gateway's own. */
  readonly principal?: Principal;
  /** Instructions for the model, before Keyhole's own. */
  readonly instructions?: string;
  /** Skills; each prompt decides how much of them the model sees. */
  readonly skills?: readonly Skill[];
  /** Most skills that a prompt gets in full. Default: 3. */
  readonly maxSkills?: number;
  /** Names of bundled skills to enable although they say `default_enabled: false`. */
  readonly enabledSkills?: readonly string[];
  readonly temperature?: number;
  /** Most tokens of one answer of the model. Default: the provider's. */
  readonly maxTokens?: number;
  /** The project's folder. Each AGENTS.md from the root of its repository down to it is part of the instructions. */
  readonly folder?: string;
  /** The person's folder, whose AGENTS.md comes before those of the project. */
  readonly userFolder?: string;
  readonly limits?: Partial<AgentLimits>;
  /** Asks a person. Without it, every question is answered with deny. */
  readonly ask?: Ask;
  /**
   * `ask`: a person confirms every tool that writes; `allow`: only destructive tools and those that require
   * confirmation. The principal must be allowed to write in any case. Default: `allow`.
   */
  readonly writes?: "ask" | "allow";
  /** The store of conversations. Default: memory. */
  readonly sessions?: SessionLogs;
  /** Your own tools, always shown to the model. */
  readonly ownTools?: ToolSet;
  /** Domains, or ops of tools, that the model has from the start; others are discovered. Default: `workspace`. */
  readonly hands?: readonly string[];
  /** Tokens that the model can take. Default: the window of the model, by its name, or 128,000. */
  readonly contextWindow?: number;
  /** A request over this share of the window makes the model summarize the older part first. Default: 0.8. */
  readonly compactAt?: number;
  /** The mode of the person's permissions now; `plan` lets the agent only read. Default: `ask`. */
  readonly permissionMode?: () => PermissionMode;
  /** Rules that allow tools which write, beside the person's answers. */
  readonly permissions?: Pick<Permissions, "tool">;
  /** Programs of the person that run before and after calls, and with each prompt. */
  readonly hooks?: AgentHooks;
  /**
   * How much the model thinks before it answers, if it can; a function is called for each request. Default: the
   * provider's.
   */
  readonly effort?:
    | ("none" | "low" | "medium" | "high")
    | (() => "none" | "low" | "medium" | "high" | undefined);
  /**
   * Retries by the AI SDK, and repetitions of an answer that breaks off. Models of `keyhole/models` retry requests
   * without an answer by themselves. Default: 2.
   */
  readonly maxRetries?: number;
}

export type AgentEffort = Extract<AgentOptions["effort"], string>;

/** One conversation with an agent. */
export interface AgentSession {
  readonly id: string;
  /** All messages; every tool call has a result. */
  readonly messages: readonly ModelMessage[];
  /** Events from before the conversation was resumed. */
  readonly restored: readonly AgentEvent[];
  /** Closes its file, which stays, and ends its gateway session. */
  end(): Promise<void>;
}

/** An agent. Pass it to {@link run}. */
export interface Agent {
  readonly options: AgentOptions;
  readonly limits: AgentLimits;
  /**
   * Opens a conversation: a new one, or with `resume` a stored one by its id, or `last` for the project's last.
   *
   * @throws SESSION_UNKNOWN if there is no stored conversation of that id; SESSION_IN_USE if another process has it
   *   open. If that is so of the last one, a new one starts.
   */
  openSession(options?: { readonly resume?: string }): Promise<AgentSession>;
}

const DEFAULT_LIMITS: AgentLimits = { steps: 30, tokens: 1_000_000, sameCalls: 3 };

/**
 * Creates an agent on a gateway. {@link run} starts its runs.
 *
 * @example
 * ```ts
 * import { createGateway } from "keyhole";
 * import { createAgent, run } from "keyhole/agent";
 * import { createScriptedModel } from "keyhole/testing";
 *
 * const gateway = createGateway({ domains: [] });
 * const model = createScriptedModel([{ text: "Two tests fail." }]);
 * const agent = createAgent({ gateway, model });
 * for await (const event of run(agent, "Which tests fail?")) {
 *   if (event.type === "agent-end") console.assert(event.text === "Two tests fail.");
 * }
 * await gateway.close();
 * ```
 */
export function createAgent(options: AgentOptions): Agent {
  const { gateway, sessions, principal } = options;
  const whose = principal ? { principal } : {};

  async function toState(id: string, log: SessionLog | undefined): Promise<SessionState> {
    const state: SessionState = {
      id,
      handle: await gateway.openSession(whose),
      messages: [],
      shown: [],
      tools: [],
      scale: 1,
      restored: [],
      approved: new Set(),
      warned: new Set(),
      recentSkills: [],
      busy: false,
      ...(log && { log }),
      end: async () => {
        // The gateway's session may have expired.
        const ended = gateway.session(state.handle, whose).then((handle) => handle.end());
        await ended.catch(() => {});
        await log?.close();
      },
    };
    return state;
  }

  async function startNew(notice?: string): Promise<SessionState> {
    const log = sessions?.create();
    return Object.assign(await toState(log?.id ?? createSessionId(), log), { notice });
  }

  return {
    options,
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    openSession: async ({ resume } = {}) => {
      if (resume === undefined) return startNew();
      const id = resume === "last" ? await sessions?.latest() : resume;
      if (id === undefined || !sessions) return startNew("No conversation to resume. This is a new one.");
      const stored = await sessions.resume(id).catch((error: unknown) => {
        if (resume !== "last" || !isProblem(error) || error.code !== "SESSION_IN_USE") throw error;
        return undefined;
      });
      if (!stored)
        return startNew(`The last conversation (${id}) is open in another process. This is a new one.`);
      const { messages, shown, events, log } = stored;
      return Object.assign(await toState(id, log), {
        messages: [...messages],
        shown: [...shown],
        restored: events,
        recentSkills: skillsIn(events),
        notice: `Resumed ${id} with ${messages.length} messages and ${events.length} events. Its large results are gone; call the tools again for them.`,
      });
    },
  };
}

/** The skills that a stored conversation used, latest first. */
function skillsIn(events: readonly AgentEvent[]): string[] {
  const used = events.flatMap((event) => (event.type === "agent-start" ? (event.skills ?? []) : []));
  return [...new Set(used.toReversed())];
}

/** The state of a conversation during runs. */
export interface SessionState extends AgentSession {
  /** The handle of the gateway's session. */
  handle: string;
  messages: ModelMessage[];
  /** The part of the messages that the model sees. */
  shown: ModelMessage[];
  /** Names of the tools that the last request had, in their order. */
  tools: readonly string[];
  /** The provider's count of the last request as a share of ours. */
  scale: number;
  /** Ops that a person has allowed for this conversation. */
  readonly approved: Set<string>;
  /** Limits of the model that the conversation was already told. */
  readonly warned: Set<string>;
  /** Names of the skills that this conversation used, latest first. */
  recentSkills: readonly string[];
  readonly log?: SessionLog;
  /** Emitted by the next run. */
  notice?: string | undefined;
  busy: boolean;
}

/** Adds messages to a conversation. */
export function say(session: SessionState, messages: readonly ModelMessage[]): void {
  session.messages.push(...messages);
  session.shown.push(...messages);
  for (const message of messages) session.log?.message(message);
}

/** Forgets the messages of a conversation from one on. Its file keeps them. */
export function rewind(session: SessionState, at: number): void {
  const from = session.messages[at];
  if (!from) return;
  session.messages = closeHistory(session.messages.slice(0, at));
  const shownAt = session.shown.indexOf(from);
  // A message that a summary stands for is not among the shown ones: the summary goes.
  session.shown = shownAt === -1 ? [...session.messages] : closeHistory(session.shown.slice(0, shownAt));
  session.log?.rewound(at);
}
