import type { Socket } from "node:net";
import type { ProblemCode } from "../../base/problems/problems.ts";
import type { ServeInput } from "./serve-options.ts";

/** The form of the first lines. A daemon with another form is not used. */
export const WIRE = 1;

/**
 * The last line of a connection that the daemon closes. `moved`: the client goes on with the next daemon. `stopped`: it
 * starts a daemon when it needs one. After both, requests without an answer were not begun.
 */
export type ClosingReason = "moved" | "stopped";

/** A client's request to be served, with everything of its own process that decides about it. */
export interface ServeRequest
  extends Pick<ServeInput, "shortcut" | "allowWrite" | "trust">,
    Partial<Pick<ServeInput, "profile" | "surface">> {
  /** The absolute path of a JSON config. */
  readonly config: string;
  readonly cwd: string;
  /** Tells the client's connections from those of others, for its session in the next daemon. */
  readonly client?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export type DaemonRequest =
  /** To be served over MCP, or to make one call of a person at a terminal. */
  | { readonly want: "serve" | "operate"; readonly serve: ServeRequest }
  | { readonly want: "status" | "stop" }
  /** `host` is an address of the machine beside 127.0.0.1. */
  | { readonly want: "console"; readonly host?: string };

/** The first line of a connection. */
export type Hello = {
  readonly wire: number;
  readonly token: string;
  readonly version: string;
} & DaemonRequest;

export interface DaemonStatus {
  readonly pid: number;
  readonly version: string;
  readonly clients: number;
  readonly configs: number;
  readonly servers: number;
  readonly memoryMb: number;
  readonly upSeconds: number;
}

/** The console of a config that the daemon serves. */
export interface DaemonConsole {
  /** The path of the config. */
  readonly config: string;
  readonly profile?: string;
  /** Opens it in a browser, once. */
  readonly link: string;
}

/** The answer to a first line. */
export type Welcome =
  | { readonly ok: true; readonly notes: readonly string[] }
  | { readonly ok: true; readonly status: DaemonStatus }
  | { readonly ok: true; readonly consoles: readonly DaemonConsole[] }
  /** The client's program is newer: the daemon ends, and the client starts the next one. */
  | { readonly ok: false; readonly retired: true }
  | { readonly ok: false; readonly problem: readonly [code: ProblemCode, message: string, next: string] };

/** Reads the first line of a connection and leaves the rest to the next reader. Undefined if there is none. */
export function readFirstLine(socket: Socket, maxBytes: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    let read: Buffer = Buffer.alloc(0);
    const done = (line: string | undefined) => {
      socket.off("data", take).off("close", fail).off("error", fail);
      resolve(line);
    };
    const fail = () => done(undefined);
    const take = (chunk: Buffer) => {
      read = Buffer.concat([read, chunk]);
      const end = read.indexOf("\n");
      if (end < 0) return void (read.length > maxBytes && fail());
      socket.pause();
      if (end + 1 < read.length) socket.unshift(read.subarray(end + 1));
      done(read.toString("utf8", 0, end));
    };
    socket.on("data", take).on("close", fail).on("error", fail);
  });
}

/** Whether a version is newer. Anything unusual counts as not newer. */
export function isNewer(one: string, other: string): boolean {
  const [left, right] = [numbersOf(one), numbersOf(other)];
  const at = left.findIndex((number, index) => number !== right[index]);
  return at >= 0 && left[at]! > right[at]!;
}

function numbersOf(version: string): number[] {
  const [, ...parts] = /^(\d+)\.(\d+)\.(\d+)/.exec(version) ?? [];
  return [0, 1, 2].map((index) => Number(parts[index] ?? 0));
}
