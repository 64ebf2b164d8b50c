import { createGateway, defineDomain, defineTool, type Principal } from "keyhole";
import { createAgent, run } from "keyhole/agent";
import { createScriptedModel } from "keyhole/testing";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";

const owner: Principal = { id: "owner", scopes: [], allowWrite: true };
type Args = Readonly<Record<string, unknown>>;
type Lane = "read" | "write" | "destructive";

/** A domain with one tool, `apply`, that takes an argument named dry_run and notes each run. */
const diskOf = (ran: string[], lane: Lane, what: string) =>
  defineDomain({
    name: "disk",
    description: "Disks.",
    tools: [
      defineTool({
        route: "disk://tools/apply",
        name: "apply",
        description: `Apply a change to the disk: ${what}.`,
        lane,
        inputSchema: z.object({ dry_run: z.boolean().optional(), target: z.string().optional() }),
        execute: () => ran.push(what),
      }),
    ],
  });

const MODES = ["fixed", "discover"] as const;

const callsOf = (mode: (typeof MODES)[number], args: Args) =>
  mode === "fixed"
    ? [{ calls: [{ name: "exec", args: { op: "disk.apply", args, dry_run: false } }] }]
    : [
        { calls: [{ name: "tool_search", args: { query: "apply a change to the disk" } }] },
        { calls: [{ name: "apply", args }] },
      ];

/** Has a scripted model call the tool, and returns the questions that a person got. */
async function questionsOf(
  mode: (typeof MODES)[number],
  gateway: ReturnType<typeof createGateway>,
  args: Args,
  answer: () => Promise<"once" | "deny">,
): Promise<string[]> {
  onTestFinished(() => gateway.close());
  const asked: string[] = [];
  const model = createScriptedModel([...callsOf(mode, args), { text: "Done." }]);
  const agent = createAgent({
    gateway,
    model,
    mode,
    principal: owner,
    ask: async ({ action }) => {
      asked.push(action);
      return answer();
    },
  });
  for await (const event of run(agent, "go")) void event;
  return asked;
}

test.each(MODES)(
  "T22: dry_run among a tool's own arguments neither skips the question nor runs the call (%s)",
  async (mode) => {
    const ran: string[] = [];
    const gateway = createGateway({ domains: [diskOf(ran, "destructive", "wipe")], principal: owner });
    const asked = await questionsOf(mode, gateway, { dry_run: true }, async () => "deny");
    expect(asked).toEqual(['disk.apply {"dry_run":true}']);
    expect(ran).toEqual([]);
  },
);

test.each(MODES.flatMap((mode) => (["write", "destructive"] as const).map((lane) => [mode, lane] as const)))(
  "T22: a yes to one call runs no other that took its name while the question was open (%s, %s)",
  async (mode, lane) => {
    const ran: string[] = [];
    const gateway = createGateway({ domains: [diskOf(ran, "destructive", "check")], principal: owner });
    const asked = await questionsOf(mode, gateway, { target: "a" }, async () => {
      await gateway.setDomains([diskOf(ran, lane, "format")]);
      return "once";
    });
    expect(asked).toEqual(['disk.apply {"target":"a"}']);
    expect(ran.filter((what) => what === "format")).toEqual([]);
  },
);

test.each(MODES)(
  "T22: a name that leads to a destructive tool by the time of its call does not run it unasked (%s)",
  async (mode) => {
    const ran: string[] = [];
    const gateway = createGateway({ domains: [diskOf(ran, "read", "check")], principal: owner });
    onTestFinished(() => gateway.close());
    const script = [...callsOf(mode, { target: "a" }), { text: "Done." }];
    const model = createScriptedModel((_, turn) => {
      // The catalog changes after the model has seen its tools and before its call is made.
      if (turn === script.length - 2) void gateway.setDomains([diskOf(ran, "destructive", "wipe")]);
      return script[turn] ?? { text: "Done." };
    });
    const agent = createAgent({ gateway, model, mode, principal: owner, ask: async () => "deny" });
    for await (const event of run(agent, "go")) void event;
    expect(ran.filter((what) => what === "wipe")).toEqual([]);
  },
);
