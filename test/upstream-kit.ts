import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { createGateway, type Gateway, type GatewayOptions, type Principal, type Source } from "keyhole";
import type { McpSource, McpSourceOptions } from "keyhole/sources";
import { createMcpSource } from "../src/sources/mcp/mcp-source.ts";

export const operator: Principal = { id: "operator", scopes: [], allowWrite: true };

/** A busy machine starts servers slowly, and most tests want what they offer. */
export const PATIENT = { startingMs: 30_000 };

export const CHAOS = resolve("src/testing/chaos-upstream.ts");

export interface ChaosOptions extends McpSourceOptions {
  readonly words?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Starts the server through a shell that keeps running. */
  readonly wrapped?: boolean;
}

export function chaos(
  label: string,
  { words = [], env = {}, wrapped, ...options }: ChaosOptions = {},
): McpSource {
  const args = [CHAOS, ...words];
  const config = wrapped
    ? { command: "sh", args: ["-c", '"$0" "$@"; echo done >&2', process.execPath, ...args], env }
    : { command: process.execPath, args, env };
  const limits = { ...PATIENT, ...options.limits };
  return createMcpSource(label, config, { trusted: true, ...options, limits });
}

export function gatewayOf(sources: readonly Source[], options: Partial<GatewayOptions> = {}): Gateway {
  return createGateway({ domains: [], sources, principal: operator, ...options });
}

/** Returns the processes with this word in their environment, without those that only hold the sandbox of another. */
export function processesWith(word: string): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid > 1 && pid !== process.pid)
    .filter((pid) => {
      try {
        const isWrapper = readFileSync(`/proc/${pid}/comm`, "utf8").trim() === "bwrap";
        return !isWrapper && readFileSync(`/proc/${pid}/environ`, "latin1").includes(word);
      } catch {
        return false;
      }
    });
}

/** Repeats the check until it passes; throws the last failure when the time is over. */
export async function eventually(check: () => void | Promise<void>, withinMs = 10_000): Promise<void> {
  const end = performance.now() + withinMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > end) throw error;
      await new Promise((done) => setTimeout(done, 25));
    }
  }
}
