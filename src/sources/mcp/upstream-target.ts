import type { Clock } from "../../base/util/clock.ts";
import type { ServerConfig } from "./config/server-config.ts";
import type { LaunchOptions } from "./config/to-launch.ts";
import type { LoginLinks } from "./login/login-links.ts";
import type { ServerLogin } from "./login/server-login.ts";
import type { SeenClient } from "./seen-client.ts";

/** One server with everything that decides how it starts or is reached. Each layer passes it on whole. */
export interface UpstreamTarget extends LaunchOptions {
  readonly config: ServerConfig;
  readonly limits: UpstreamLimits;
  readonly clock: Clock;
  /** Access to an HTTP server; undefined for a child process. */
  readonly login?: ServerLogin | undefined;
  /** Creates the login of a person, for a server with separate logins. */
  readonly toLogin?: ((person: string) => ServerLogin) | undefined;
  /** Links with which people log in. */
  readonly links?: LoginLinks | undefined;
  /** The clients of the process. Default: all, whatever they can answer. */
  readonly seen?: SeenClient | undefined;
  readonly commandFor?: (words: readonly string[]) => string;
}

/** Limits for one upstream server. Times are in milliseconds. */
export interface UpstreamLimits {
  /** Calls that run at the same time. */
  readonly concurrency: number;
  /** Calls that wait for their turn. */
  readonly queue: number;
  readonly connectMs: number;
  /** How long searches wait for the first listing. Meanwhile the server is shown as starting. */
  readonly startingMs: number;
  /** How long a call may take, even if it reports progress. */
  readonly totalMs: number;
  readonly maxLineBytes: number;
  /** Entries of one kind in a listing. `ask` says how many are left out. */
  readonly maxEntries: number;
  /** How long a process may take to end by itself. */
  readonly graceMs: number;
  /** Starts within `restartWindowMs` before the server counts as down. */
  readonly restarts: number;
  readonly restartWindowMs: number;
  /** Wait before the second start. Each further wait is twice as long. */
  readonly backoffMs: number;
  /** Timeouts in a row before the server counts as down for `breakerMs`. */
  readonly breakerTimeouts: number;
  readonly breakerMs: number;
  /** Shortest time between two listings that the server asks for. */
  readonly relistMs: number;
  /** How long an idle server keeps running. 0: as long as the gateway. */
  readonly idleMs: number;
}

export const DEFAULT_LIMITS: UpstreamLimits = {
  concurrency: 32,
  queue: 1_024,
  connectMs: 30_000,
  startingMs: 1_000,
  totalMs: 600_000,
  maxLineBytes: 32 * 1024 * 1024,
  maxEntries: 50_000,
  graceMs: 1_000,
  restarts: 5,
  restartWindowMs: 600_000,
  backoffMs: 250,
  breakerTimeouts: 3,
  breakerMs: 30_000,
  relistMs: 500,
  idleMs: 0,
};
