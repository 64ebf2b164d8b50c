import { ASSERTIONS } from "../lab/assertions.ts";
import { LAB_CLIENTS } from "../lab/clients.ts";
import { readFacts } from "../lab/facts.ts";
import type { LabRow } from "../lab/finding.ts";
import type { LabClient } from "../lab/lab-client.ts";

/** Columns of the table: the assertion, and its heading. */
const COLUMNS = {
  tools: "Keyhole's tools for the model",
  instructions: "instructions",
  text: "a result",
  error: "an error",
  image: "a picture",
  approval: "a person must approve, nobody is there",
  approved: "a person approves",
  declined: "a person declines",
  "silent-call": "a long silent call",
} as const;

/** For each client of the lab: how it behaves, from the recorded facts, and what its users should do. */
export async function clientFacts(): Promise<string> {
  const recorded = await Promise.all(
    LAB_CLIENTS.map(async (client) => ({ client, facts: await readFacts(client.name) })),
  );
  const titles = Object.values(COLUMNS);
  const table = [
    `| client | ${titles.join(" | ")} |`,
    `|---|${titles.map(() => "---|").join("")}`,
    ...recorded.map(({ client, facts }) => tableLine(client, facts)),
  ];
  const advice = LAB_CLIENTS.map(({ title, advice: lines }) => `- **${title}**: ${lines.join(" ")}`);
  return `\n${table.join("\n")}\n\n${advice.join("\n")}\n`;
}

function tableLine({ title, packages, person }: LabClient, facts: readonly LabRow[]): string {
  const version = facts[0]?.version ?? Object.values(packages)[0];
  const cells = Object.keys(COLUMNS).map((name) => {
    const row = facts.find(({ assertion }) => assertion === name);
    if (row) return cellOf(row, facts);
    const isForPerson = ASSERTIONS.some((one) => one.name === name && one.scenario === "person");
    return isForPerson && !person ? "the client shows no forms" : "not run";
  });
  return `| ${title} ${version} | ${cells.join(" | ")} |`;
}

function cellOf({ assertion, fact, value }: LabRow, facts: readonly LabRow[]): string {
  if (assertion === "silent-call") return `${fact} (${value} s)`;
  if (assertion !== "tools" || !fact.includes(", ")) return fact;
  const tokens = facts.find((row) => row.assertion === "tokens")?.value;
  return `\`${fact.split(", ")[0]}\` and three more, ${tokens} tokens`;
}
