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
  /** Only the servers of this profile of the config. */
  readonly profile?: string;
  /** Folder that keeps listings between starts. Without it, each start has to list the server. */
  readonly cacheDirectory?: string;
  /** Keeps listings of MCP servers in place of the folder, for all gateways of one state. */
  readonly listings?: OpenStorage;
  /** Age at which a listing is stale, in milliseconds. Default: one day. */
  readonly ttlMs?: number;
  /** Accepts all definitions of the server, now and later, without approval. */
  readonly trusted?: boolean;
  /**
   * Whether a change of descriptions alone, which steers no model, waits for a person's approval. The `changes` of the
   * server's config wins. Default: `ask`.
   */
  readonly changes?: ChangePolicy;
  /**
   * Lanes of tools, by the server's names for them. Only this makes a lane weaker than the tool's name implies: a
   * server's hint to read does not.
   */
  readonly lanes?: Readonly<Record<string, Lane>>;
  /** A person's words about tools, by the server's names for them: name, description, lane, and whether it is hidden. */
  readonly tools?: Readonly<Record<string, ToolOverride>>;
  /** Description of the domain. Default: the instructions of a trusted server. */
  readonly description?: string;
  /** Scopes that a principal needs to see the entries. */
  readonly scopes?: readonly string[];
  /**
   * Says whether a write warns, is refused or just runs if its session has not read the thing first. Default: warn
   * about changes, but not about tools that create something.
   */
  readonly readBeforeWrite?: ReadBeforeWrite;
  /** The tools whose calls need a person's approval. The `ask` of a server's config or of the gateway may be stricter. */
  readonly ask?: AskBefore;
  /** The skills of a server with `skills: true`. Default: those of the user. */
  readonly skills?: {
    readonly places?: readonly SkillPlace[];
    /** Whether a skill of this name is served. Default: all. */
    readonly isUsed?: (name: string) => boolean;
  };
  /** Values for `${X}` in the config. Default: the environment. */
  readonly variables?: LaunchVariables;
  /** The environment of the one who uses the server. Default: that of the process. */
  readonly environment?: LaunchVariables;
  /**
   * The part of it that the server gets: the `few` variables that every program needs, or `all` but Keyhole's own, as
   * MCP clients pass on theirs. Default: `few`.
   */
  readonly inherits?: "few" | "all";
  /** Servers that several gateways share. Default: each source has a process of its own. */
  readonly shared?: SharedServers;
  /** Isolates servers unless their config says `sandbox: false`. Default: only those whose config has a `sandbox`. */
  readonly isolation?: ServerIsolation;
  /** The folder in which a server starts unless its config names one. Default: that of the process. */
  readonly cwd?: string;
  /**
   * Decides whether the server may be started or reached; asked before each use. While the answer is no, the
   * server waits like one whose definitions are not approved. Default: always.
   */
  readonly mayStart?: (program: ServerProgram) => boolean | Promise<boolean>;
  readonly limits?: Partial<UpstreamLimits>;
  /** Writes a command that a person has to type, such as `["login", "files"]`. Default: `keyhole login files`. */
  readonly commandFor?: (words: readonly string[]) => string;
  /** For tests. Default: the system clock. */
  readonly clock?: Clock;
  /**
   * Store of logins to HTTP servers. Default: a file in the folder that `KEYHOLE_STATE` names (the program sets
   * it), otherwise memory.
   */
  readonly logins?: Logins;
  /** Links by which people log in to the servers whose config says `login: "person"`. */
  readonly links?: LoginLinks;
  /** The issuer that exchanges tokens of people, and how Keyhole identifies itself there. */
  readonly exchange?: ExchangeOptions;
}
