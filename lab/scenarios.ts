import { resolve } from "node:path";
import type { ScenarioName } from "./lab-client.ts";

/** One call that the scripted model makes. */
export interface Step {
  /** Names the step in assertions. */
  readonly id: string;
  readonly tool: "ask" | "get" | "exec";
  /** `LAST_HANDLE` stands for the last handle that the model has read. */
  readonly args: Readonly<Record<string, unknown>>;
}

export const LAST_HANDLE = "result://last";

export interface Scenario {
  readonly steps: readonly Step[];
  /** The servers behind Keyhole, as `mcpServers` of its config. */
  readonly servers: Readonly<Record<string, { readonly command: string; readonly args: readonly string[] }>>;
  readonly allowWrite: boolean;
  /** Adds a tool that only a person may confirm. */
  readonly confirms?: boolean;
}

const REPORTS = {
  command: process.execPath,
  args: [resolve(import.meta.dirname, "reports-server.ts")],
};
/** Starts and never answers. */
const HUNG = {
  command: process.execPath,
  args: [resolve(import.meta.dirname, "../src/testing/chaos-upstream.ts"), "silent"],
};

const ask: Step = { id: "ask", tool: "ask", args: { query: "quarterly report of revenue" } };
const get = (id: string, tool: string, more: object = {}): Step => ({
  id,
  tool: "get",
  args: { routes: [{ route: `reports://tools/${tool}` }], ...more },
});
const rest: Step = {
  id: "rest",
  tool: "get",
  args: { routes: [{ route: LAST_HANDLE, params: { group: "region" } }] },
};
const confirm: Step = {
  id: "confirm",
  tool: "exec",
  args: { op: "books.close_books", args: { quarter: "Q3" } },
};
const close = (id: string, quarter: string): Step => ({
  ...confirm,
  id,
  args: { ...confirm.args, args: { quarter } },
});
const remove: Step = {
  id: "refused",
  tool: "exec",
  args: { op: "reports.delete_report", args: { id: "Q3" }, dry_run: false },
};

/** The conversations of the lab. `seconds` is how long the silent call lasts. */
export function scenario(name: ScenarioName, seconds: number): Scenario {
  if (name === "tour") {
    const steps = [
      ask,
      // Gemini CLI adds this field to every schema and forwards it.
      get("text", "read_report", { wait_for_previous: true }),
      get("failure", "read_failing"),
      get("image", "read_logo"),
      get("surrogate", "read_broken"),
      get("ledger", "read_ledger"),
      rest,
      confirm,
    ];
    return { steps, servers: { reports: REPORTS }, allowWrite: true, confirms: true };
  }
  if (name === "hung") {
    return { steps: [ask, remove], servers: { reports: REPORTS, archive: HUNG }, allowWrite: false };
  }
  if (name === "person") {
    const steps = [close("approved", "Q3"), close("declined", "Q4")];
    return { steps, servers: { reports: REPORTS }, allowWrite: true, confirms: true };
  }
  const slow: Step = {
    id: "slow",
    tool: "exec",
    args: { op: "reports.read_slowly", args: { seconds } },
  };
  return { steps: [slow], servers: { reports: REPORTS }, allowWrite: true };
}
