import type { Assertion, Finding } from "../finding.ts";
import { findTool, offeredTools } from "../offered-tools.ts";
import { messages } from "../step-seen.ts";

/** No known client waits a shorter time for a call that says nothing. */
const SILENT_LIMIT_S = 59;

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
      const value = { value: seconds, unit: "s" as const };
      const beats = messages(observed, "server").filter(({ method }) => method === "notifications/progress");
      const asksForProgress = beats.length > 0;
      const how = asksForProgress ? "kept alive by progress" : "the client asks for no progress";
      if (/The tape has been read/.test(step("slow").read?.text ?? "")) {
        return { ok: true, fact: `answered; ${how}`, ...value };
      }
      // Progress may only be sent to a client that asks for it, so its limit is its own.
      return { ok: !asksForProgress && seconds > SILENT_LIMIT_S, fact: `given up; ${how}`, ...value };
    },
  },
  {
    name: "left-running",
    title: "left running after the client, of a server that is its own",
    scenario: "tour",
    check: ({ observed }) => leftFinding(observed.left),
  },
  {
    name: "left-by-daemon",
    title: "left running after the client and `keyhole serve --stop`",
    scenario: "hung",
    check: ({ observed }) => leftFinding(observed.leftAfterStop),
  },
];

function leftFinding(left: readonly string[]): Finding {
  const own = left.filter((line) => /main\.js|reports-server|chaos-upstream|tap\.ts/.test(line));
  const others = left.length - own.length;
  const fact = left.length === 0 ? "nothing" : `${own.length} of Keyhole, ${others} of the client`;
  return { ok: own.length === 0, fact };
}
