import type { Clock } from "../../base/util/clock.ts";
import type { OpenStorage } from "../../base/util/storage.ts";
import type { Lane, ReadBeforeWrite } from "../../core/nouns/entry.ts";
import type { AskBefore } from "../../core/nouns/question.ts";
import type { ServerProgram } from "../../core/nouns/server-program.ts";
import type { SkillPlace } from "../markdown/skills/skill.ts";
import type { ToolOverride } from "./config/overrides.ts";
import type { ChangePolicy } from "./config/server-config.ts";
import type { LaunchVariables, ServerIsolation } from "./config/to-launch.ts";
import type { ExchangeOptions } from "./login/exchange-token.ts";
import type { LoginLinks } from "./login/login-links.ts";
import type { Logins } from "./login/logins.ts";
import type { SharedServers } from "./shared-servers.ts";
import type { UpstreamLimits } from "./upstream-target.ts";

/** Options of {@link fromMcpConfig} and {@link createMcpSource}. */
export interface McpSourceOptions {
  /** Profile of the config whose servers to use. Default: all servers. */
  readonly profile?: string;
  /** Folder that stores listings between starts. Without it, each start has to list the server. */
  readonly cacheDirectory?: string;
  /** Storage for listings of MCP servers instead of the folder, for all gateways of one state. */
  readonly listings?: OpenStorage;
  /** Age at which a listing is stale, in milliseconds. Default: one day. */
  readonly ttlMs?: number;
  /** Accepts all present and future definitions of the server without approval. */
  readonly trusted?: boolean;
  /**
   * Whether a change of descriptions alone, without signs of injection, waits for a person's approval. The `changes` of
   * the server's config wins. Default: `ask`.
   */
  readonly changes?: ChangePolicy;
  /** Lanes of tools, by the server's names. Only this makes a lane weaker than the name implies; hints cannot. */
  readonly lanes?: Readonly<Record<string, Lane>>;
  /** A person's changes to tools, by the server's names: name, description, lane, hidden. */
  readonly tools?: Readonly<Record<string, ToolOverride>>;
  /** Description of the domain. Default: the instructions of a trusted server. */
  readonly description?: string;
  /** Scopes needed to see the entries. */
  readonly scopes?: readonly string[];
  /**
   * Whether a write warns, is refused or just runs if its session has not read the thing first. Default: warn about
   * changes, but not about tools that create something.
   */
  readonly readBeforeWrite?: ReadBeforeWrite;
  /** Which calls need a person's approval. The `ask` of a server's config or of the gateway may be stricter. */
  readonly ask?: AskBefore;
  /** The skills of a server with `skills: true`. Default: those of the user. */
  readonly skills?: {
    readonly places?: readonly SkillPlace[];
    /** Whether to serve a skill of this name. Default: all. */
    readonly isUsed?: (name: string) => boolean;
  };
  /** Values for `${X}` in the config. Default: the environment. */
  readonly variables?: LaunchVariables;
  /** Environment of the person who uses the server. Default: that of the process. */
  readonly environment?: LaunchVariables;
  /**
   * The part of it for the server: the `few` variables that every program needs, or `all` except Keyhole's own, as MCP
   * clients pass on theirs. Default: `few`.
   */
  readonly inherits?: "few" | "all";
  /** Servers shared by several gateways. Default: each source has its own process. */
  readonly shared?: SharedServers;
  /** Isolates servers unless their config says `sandbox: false`. Default: only those whose config has a `sandbox`. */
  readonly isolation?: ServerIsolation;
  /** Working directory of a server, unless its config names one. Default: that of the process. */
  readonly cwd?: string;
  /**
   * Whether the server may start or be reached; called before each use. While false, the server waits like one with
   * unapproved definitions. Default: always.
   */
  readonly mayStart?: (program: ServerProgram) => boolean | Promise<boolean>;
  readonly limits?: Partial<UpstreamLimits>;
  /** Formats a command to type, such as `["login", "files"]`. Default: `keyhole login files`. */
  readonly commandFor?: (words: readonly string[]) => string;
  /** For tests. Default: the system clock. */
  readonly clock?: Clock;
  /** Store of logins to HTTP servers. Default: a file in `KEYHOLE_STATE` (set by the program), otherwise memory. */
  readonly logins?: Logins;
  /** Links with which people log in to servers whose config says `login: "person"`. */
  readonly links?: LoginLinks;
  /** The issuer that exchanges people's tokens, and Keyhole's client there. */
  readonly exchange?: ExchangeOptions;
}
