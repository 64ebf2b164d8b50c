import { readFileSync } from "node:fs";
import { createGateway, defineDomain, defineTool } from "keyhole";
import { expect, test } from "vitest";
import type { Explanation } from "../src/search/port/search-index.ts";

const DOMAINS: Readonly<Record<string, readonly [description: string, tools: Record<string, string>]>> = {
  github: [
    "Code and reviews.",
    {
      create_pull_request: "Create a new pull request in a repository",
      create_pull_request_review: "Create a review on a pull request",
      list_issues: "List the issues of a repository",
    },
  ],
  slack: [
    "Chat of a company.",
    { post_message: "Posts a message to a channel", list_members: "Lists the members of a team" },
  ],
  shop: [
    "Orders of customers.",
    { list_orders: "Lists the newest orders", send_refund: "Pays a customer back" },
  ],
};

const gateway = createGateway({
  domains: Object.entries(DOMAINS).map(([name, [description, tools]]) =>
    defineDomain({
      name,
      description,
      tools: Object.entries(tools).map(([tool, text]) =>
        defineTool({ name: tool, description: text, execute: () => "done" }),
      ),
    }),
  ),
  principal: { id: "me", scopes: [], allowWrite: true },
});

test("the table of docs/search.md has the figures that explain gives", async () => {
  const docs = readFileSync("docs/search.md", "utf8");
  const pull = await explain("open a pull request");
  expect(docs).toContain(rowOf(pull, "github.pull.request.create"));
  expect(docs).toContain(rowOf(pull, "github.pull.request.review.create"));
  for (const { term, score } of pull["github.pull.request.create"]!.terms)
    expect(docs).toContain(term.includes(" ") ? `(${figure(score)})` : `\`${term}\` ${figure(score)}`);
  expect(docs).toContain(rowOf(await explain("eine Nachricht senden"), "slack.message.post"));

  const query = "tell the team that it shipped";
  expect(docs).toContain(rowOf(await explain(query), "slack.member.list"));
  const { session } = await gateway.ask({ query, session: "new" });
  expect(await gateway.exec({ op: "slack.message.post", args: {}, session })).toMatchObject({ ok: true });
  const used = await explain(query);
  expect(Object.keys(used)[0]).toBe("slack.message.post");
  expect(docs).toContain(
    `the same after one use of \`slack.message.post\` ${rowOf(used, "slack.message.post")}`,
  );
  expect(docs).toContain(
    `let the team know we shipped it ${rowOf(await explain("let the team know we shipped it"), "slack.message.post")}`,
  );
  await gateway.close();
});

/** The explanations by op, best hit first. */
async function explain(query: string): Promise<Record<string, Explanation>> {
  const { explanations = {} } = await gateway.ask({ query, explain: true });
  const { ops } = (await gateway.report()).registry;
  const opOf = new Map(Object.values(ops).map(({ op, route }) => [route, op]));
  return Object.fromEntries(
    Object.entries(explanations).map(([route, explanation]) => [
      opOf.get(route)!,
      explanation as Explanation,
    ]),
  );
}

function rowOf(explanations: Readonly<Record<string, Explanation>>, op: string): string {
  const { lexical, vector, learned } = explanations[op]!;
  const last = learned === undefined ? " | " : ` | ${figure(learned)} `;
  return `| \`${op}\` | ${figure(lexical)} | ${figure(vector!)}${last}|`;
}

/** Two places, without zeroes that say nothing. */
function figure(value: number): string {
  if (Number.isInteger(Number(value.toFixed(2)))) return value < 0.5 ? "0" : value.toFixed(value > 1 ? 2 : 0);
  return value.toFixed(2).replace(/^0/, "");
}
