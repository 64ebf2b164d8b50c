import type { Assertion } from "../finding.ts";
import { findTool, offeredTools } from "../offered-tools.ts";
import { messages } from "../step-seen.ts";

/** Starting, waiting and ending. */
export const lifeAssertions: readonly Assertion[] = [
  {
    name: "hung-upstream",
    title: "a server that never answers",
    scenario: "hung",
    check: ({ observed, step }) => {
      const first = observed.requests.find((body) => offeredTools(body).length > 0);
      const isThere = findTool(offeredTools(first ?? {}), "ask") !== undefined;
      const { read } = step("ask");
      const isNamed = /archive/.test(read?.text ?? "");
      const isFound = /read_report/.test(read?.text ?? "");
      const parts = [
        isThere ? "tools are there at once" : "tools are late",
        isFound ? "the others are found" : "the others are not found",
        isNamed ? "it is named" : "it is not named",
      ];
      return { ok: isFound && isNamed, fact: parts.join(", ") };
    },
  },
  {
    name: "silent-call",
    title: "a call that says nothing for long",
    scenario: "silent",
    check: ({ observed, step, seconds }) => {
      const { read } = step("slow");
      const beats = messages(observed, "server").filter(({ method }) => method === "notifications/progress");
      const ok = /The tape has been read/.test(read?.text ?? "");
      const kept = beats.length > 0 ? "kept alive by progress" : "without progress: the client asks for none";
      return { ok, fact: ok ? `answered, ${kept}` : `given up, ${kept}`, value: seconds, unit: "s" };
    },
  },
  {
    name: "left-running",
    title: "left running after the client",
    scenario: "tour",
    check: ({ observed: { left } }) => {
      const own = left.filter((line) => /keyhole|reports-server|main\.js|tap\.ts/.test(line));
      const others = left.length - own.length;
      const fact = left.length === 0 ? "nothing" : `${own.length} of Keyhole, ${others} of the client`;
      return { ok: own.length === 0, fact };
    },
  },
];
