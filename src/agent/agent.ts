import type { LanguageModel, ModelMessage, ToolSet } from "ai";
import type { TrimOptions } from "../ai-sdk/trim-messages.ts";
import type { Gateway } from "../gateway-api.ts";
import type { Principal } from "../schema/principal.ts";
import type { Skill } from "../sources/markdown/skills/skill.ts";
import type { AgentEvent } from "./agent-event.ts";
import type { Ask } from "./ask.ts";
import { createSessionId } from "./read-session.ts";
import type { SessionLog, SessionLogs } from "./session-log.ts";

/** The AI SDK's model, or what gives it with each run; failures may be answers as `keyhole/models` has them. */
export type AgentModel = LanguageModel | (() => ModelGiven | Promise<ModelGiven>);
export type ModelGiven =
  | LanguageModel
  | { readonly success: true; readonly result: LanguageModel }
  | { readonly success: false; readonly error: string; readonly message: string };

export interface AgentLimits {
  /** Requests to the model in one run. Default: 30. */
  readonly steps: number;
  /** Tokens, read and written, in one run. Default: 1,000,000. */
  readonly tokens: number;
  /** How often the very same call runs without anything new between. Default: 3. */
  readonly sameCalls: number;
}

export interface AgentOptions {
  readonly gateway: Gateway;
  readonly model: AgentModel;
  /** `discover`: tools appear as they are found; `fixed`: the same few on every request. Default: `discover`. */
  readonly mode?: "discover" | "fixed";
  /** Who the agent acts for. Default: the gateway's own principal. */
  readonly principal?: Principal;
  /** Comes before what Keyhole tells the model. */
  readonly instructions?: string;
  /** Shown as far as a prompt calls for them. */
  readonly skills?: readonly Skill[];
  /** The project's folder: the nearest AGENTS.md from there upwards is part of the instructions. */
  readonly folder?: string;
  readonly limits?: Partial<AgentLimits>;
  /** Asks a person. Without it nobody is there, and what would be asked is denied. */
  readonly ask?: Ask;
  /**
   * Whether a person is asked before tools that write, too, or only before those that destroy or want to be
   * confirmed. The principal must be allowed to write in any case. Default: `allow`.
   */
  readonly writes?: "ask" | "allow";
  /** Domains whose tools ask for permission themselves, so that nobody is asked twice. Default: `workspace`. */
  readonly askingDomains?: readonly string[];
  /** Where conversations are kept. Without it, in memory. */
  readonly sessions?: SessionLogs;
  /** Tools of your own, always there. */
  readonly ownTools?: ToolSet;
  /** When what a model is shown of a long conversation is cut; `false` never. */
  readonly trim?: TrimOptions | false;
  /** How often the AI SDK tries a request again. Models of `keyhole/models` do so themselves. Default: 2. */
  readonly maxRetries?: number;
}

/** One conversation with an agent. */
export interface AgentSession {
  readonly id: string;
  /** All that was said, with a result for every call. */
  readonly messages: readonly ModelMessage[];
  /** What happened before it was resumed. */
  readonly restored: readonly AgentEvent[];
  /** Lets go of its file, and of what the gateway remembers of it. The file stays. */
  end(): Promise<void>;
}

/** An agent: what its runs have in common. */
export interface Agent {
  readonly options: AgentOptions;
  readonly limits: AgentLimits;
  /** Opens a conversation; with `resume` one that was kept, by its id, or `last` for the project's last one. */
  openSession(options?: { readonly resume?: string }): Promise<AgentSession>;
}

const DEFAULT_LIMITS: AgentLimits = { steps: 30, tokens: 1_000_000, sameCalls: 3 };

export function createAgent(options: AgentOptions): Agent {
  const { gateway, sessions, principal } = options;
  const whose = principal ? { principal } : {};

  /** It may have expired by itself. */
  function forget(handle: string): void {
    try {
      gateway.session(handle, whose).end();
    } catch {
      return;
    }
  }

  function toState(id: string, log: SessionLog | undefined): SessionState {
    const state: SessionState = {
      id,
      handle: gateway.openSession(whose),
      messages: [],
      shown: [],
      restored: [],
      approved: new Set(),
      busy: false,
      ...(log && { log }),
      end: async () => {
        forget(state.handle);
        await log?.close();
      },
    };
    return state;
  }

  return {
    options,
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    openSession: async ({ resume } = {}) => {
      const id = resume === "last" ? await sessions?.latest() : resume;
      if (id === undefined || !sessions) {
        const log = sessions?.create();
        const state = toState(log?.id ?? createSessionId(), log);
        if (resume !== undefined) state.notice = "There is no conversation to resume: this is a new one.";
        return state;
      }
      const { messages, events, log } = await sessions.resume(id);
      const state = toState(id, log);
      return Object.assign(state, {
        messages: [...messages],
        shown: [...messages],
        restored: events,
        notice: `Resumed ${id} with ${messages.length} messages and ${events.length} events. Large results that were kept beside the conversation are gone: tools have to be called again for them.`,
      });
    },
  };
}

/** A conversation as a run works on it. */
export interface SessionState extends AgentSession {
  /** The gateway's session. */
  handle: string;
  messages: ModelMessage[];
  /** What the model is shown of them. */
  shown: ModelMessage[];
  /** Ops that a person has allowed for as long as the conversation is open. */
  readonly approved: Set<string>;
  readonly log?: SessionLog;
  /** Told with the next run. */
  notice?: string | undefined;
  busy: boolean;
}
