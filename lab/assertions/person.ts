import type { Assertion } from "../finding.ts";

/** Calls that a person answers at the client, in a terminal. */
export const personAssertions: readonly Assertion[] = [
  {
    name: "approved",
    title: "call that the person approves",
    scenario: "person",
    check: ({ client, observed, step }) => {
      const isRead = /The books of Q3 are closed/.test(step("approved").read?.text ?? "");
      const runs = observed.closed.filter((quarter) => quarter === "Q3").length;
      const isShown = observed.forms[0]?.includes("Q3") === true;
      const fact = isShown ? `shown, accepted by ${keys(client.person?.accept)}` : "no question is shown";
      return { ok: isShown && isRead && runs === 1, fact: `${fact}; runs ${times(runs)}` };
    },
  },
  {
    name: "declined",
    title: "call that the person declines",
    scenario: "person",
    check: ({ observed, step }) => {
      const text = step("declined").read?.text ?? "";
      const isTold = text.includes("The person declined");
      const runs = observed.closed.filter((quarter) => quarter === "Q4").length;
      const fact = isTold ? "the model reads that the person declined" : "the model is not told";
      return { ok: isTold && runs === 0, fact: runs === 0 ? fact : `runs ${times(runs)}` };
    },
  },
];

function keys(pressed: readonly string[] = []): string {
  return pressed.length === 1 ? `one key (${pressed[0]})` : `${pressed.length} keys`;
}

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}
