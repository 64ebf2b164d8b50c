import { existsSync } from "node:fs";
import { extname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { toVisibleLine } from "../base/safety/visible-text.ts";
import { contentHash } from "../base/util/content-hash.ts";
import { makeFolder } from "../base/util/make-folder.ts";
import type { AcceptedLimits } from "../core/access/accepted-limits.ts";
import type { Entry } from "../core/nouns/entry.ts";
import type { SandboxLimits } from "../core/nouns/server-program.ts";
import { isolationFault } from "../sources/isolation/isolation.ts";
import { deniedPaths, proposeLimits, showLimits } from "../sources/isolation/propose-limits.ts";
import type { ServerSource } from "../sources/servers/from-config.ts";
import type { LimitsApproval } from "./approvals.ts";

/**
 * Proposes limits from what is known of a server, if they differ from the present ones. Paths from the error output of
 * the process are noted for later proposals.
 */
export async function toLimitsApproval(
  server: ServerSource,
  entries: readonly Entry[],
  accepted: AcceptedLimits,
): Promise<LimitsApproval | undefined> {
  const program = server.program();
  // A person wrote the limits in a config.
  if (!("command" in program.runs) || program.runs.sandbox !== undefined) return undefined;
  const present = server.limits?.();
  if (!present || (await isolationFault()) !== undefined) return undefined;
  await accepted.note(program, { paths: deniedPaths(server.diagnostics().stderr) });
  const touched = accepted.touched(program);
  const tools = entries.flatMap(({ kind, origin }) =>
    kind === "tool" && origin?.source === server.label ? [origin.definition] : [],
  );
  const { why, ...limits } = proposeLimits(present, tools, touched);
  if (isDeepStrictEqual(limits, accepted.accepted(program) ?? { network: "all" })) return undefined;
  const asked = touched.hosts.map(toVisibleLine).join(", ");
  return {
    limits,
    hash: contentHash([program.hash, JSON.stringify(limits)]),
    lines: [
      "Its sandbox could be:",
      ...showLimits(server.limits?.(limits) ?? present),
      `because  ${toVisibleLine(why)}; ${asked === "" ? "no host is known that it asked for" : `it asked for ${asked}`}`,
      "unseen   connections past a proxy, and files that it only reads",
    ],
  };
}

/** Limits a server. A running process restarts at its next use. */
export async function acceptLimits(
  server: ServerSource,
  limits: SandboxLimits,
  accepted: AcceptedLimits,
): Promise<void> {
  for (const folder of limits.folders ?? [])
    if (!existsSync(folder) && extname(folder) === "") makeFolder(folder);
  await accepted.accept(server.program(), limits);
}
