import type { SandboxLimits, ServerProgram } from "../nouns/server-program.ts";
import type { Grants } from "./grants.ts";

/** Hosts and paths that a server used while it was tried for an approval, or was refused later. */
export interface Touched {
  readonly hosts: readonly string[];
  readonly paths: readonly string[];
}

/** A server chooses these texts: bound their number and length. */
const MOST_NOTES = 100;
const LONGEST_NOTE = 1_000;

/** The limits that a person accepted for servers. Each is bound to the hash of everything that the server runs. */
export function createAcceptedLimits(grants: Grants<"limits">) {
  const read = ({ hash, label }: ServerProgram) => {
    // A database answers later: its changes count from the next read on.
    void Promise.resolve(grants.refresh()).catch(() => {});
    return grants.get(hash) ?? { label, hosts: [], paths: [] };
  };
  return {
    touched: (program: ServerProgram): Touched => read(program),
    accepted: (program: ServerProgram): SandboxLimits | undefined => read(program).sandbox,
    note: async (program: ServerProgram, { hosts = [], paths = [] }: Partial<Touched>): Promise<void> => {
      const before = read(program);
      const after = { hosts: merged(before.hosts, hosts), paths: merged(before.paths, paths) };
      if (after.hosts.length + after.paths.length === before.hosts.length + before.paths.length) return;
      await grants.change(new Map([[program.hash, { ...before, ...after }]]));
    },
    accept: async (program: ServerProgram, sandbox: SandboxLimits): Promise<void> => {
      await grants.change(new Map([[program.hash, { ...read(program), sandbox, givenAt: Date.now() }]]));
    },
  };
}

export type AcceptedLimits = ReturnType<typeof createAcceptedLimits>;

function merged(before: readonly string[], more: readonly string[]): string[] {
  const fitting = more.filter((text) => text !== "" && text.length <= LONGEST_NOTE);
  return [...new Set([...before, ...fitting])].slice(0, MOST_NOTES);
}
