import type { Assertion, Seen } from "../finding.ts";
import { findTool, OWN_TOOLS, offeredTools } from "../offered-tools.ts";
import { messages } from "../step-seen.ts";

/** The design's limit for the menu, and the frame that clients put around a definition. */
const MOST_TOKENS = 1_000;

/** The tools that a model sees in its first request. */
export const menuAssertions: readonly Assertion[] = [
  {
    name: "tools",
    title: "tools in the first request",
    scenario: "tour",
    check: (seen) => {
      const names = firstTools(seen).map(({ name, namespace }) =>
        namespace ? `${namespace}.${name}` : name,
      );
      if (names.length === 0)
        return { ok: seen.client.reveal !== undefined, fact: "none: behind the client's own search" };
      return { ok: names.length === OWN_TOOLS.length, fact: names.join(", ") };
    },
  },
  {
    name: "tokens",
    title: "tokens of the tools in the first request",
    scenario: "tour",
    check: (seen) => {
      const tools = firstTools(seen).map(({ definition }) => definition);
      const value = tools.length === 0 ? 0 : seen.countTokens(JSON.stringify(tools));
      return { ok: value <= MOST_TOKENS, fact: `at most ${MOST_TOKENS}`, value, unit: "tokens" };
    },
  },
  {
    name: "instructions",
    title: "instructions in the first request",
    scenario: "tour",
    check: (seen) => {
      // Clients indent the lines in their own ways.
      const given = String(instructionsOf(seen) ?? "").replace(/\s+/g, " ");
      const text = JSON.stringify(firstRequest(seen) ?? "").replace(/(?:\\n|\s)+/g, " ");
      let shown = given.length;
      while (shown > 0 && !text.includes(JSON.stringify(given.slice(0, shown)).slice(1, -1))) shown -= 1;
      if (shown === given.length) return { ok: true, fact: "whole" };
      return { ok: true, fact: shown < 20 ? "absent" : `the first ${shown} characters` };
    },
  },
  {
    name: "protocol",
    title: "protocol revision",
    scenario: "tour",
    check: ({ observed }) => {
      const revisions = messages(observed, "client").map(({ method, params }) => {
        const meta = params?._meta as Record<string, unknown> | undefined;
        if (method === "initialize") return params?.protocolVersion;
        return meta?.["io.modelcontextprotocol/protocolVersion"];
      });
      const revision = revisions.find((value) => value !== undefined);
      return { ok: revision !== undefined, fact: String(revision) };
    },
  },
];

/** The first request that offers tools; requests for a title offer none. */
function firstRequest({ observed }: Seen): unknown {
  return observed.requests.find((body) => offeredTools(body).length > 0);
}

function firstTools(seen: Seen) {
  const offered = offeredTools(firstRequest(seen) ?? {});
  return OWN_TOOLS.flatMap((tool) => findTool(offered, tool) ?? []);
}

function instructionsOf({ observed }: Seen): unknown {
  return messages(observed, "server").find(({ result }) => result?.instructions !== undefined)?.result
    ?.instructions;
}
