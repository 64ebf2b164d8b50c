// How many of a person's skills reach the model of a client. 25, 56 and 216 skills are in the client's own folder; the
// client is started once, without a network, against a scripted model, and the bytes of its request are read: whose whole
// description is there, whose name, and the tokens of the request. `direct` is the client alone; `keyhole` is the same
// after `keyhole connect CLIENT --skills`. `found` counts the skills that `ask` finds for a need in other words than
// their descriptions; `answer` is what such an answer takes. --systems names clients (default: claude-code).
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { findClient } from "../lab/clients.ts";
import { spawnInNamespace, whyNoNamespace } from "../lab/namespace.ts";
import { loadTokenCounter } from "../src/base/tokens/tokens.ts";
import { createGateway } from "../src/gateway/create-gateway.ts";
import { fromConfig } from "../src/sources/servers/from-config.ts";
import type { Benchmark, Row } from "./benchmark.ts";
import { installPackages } from "./install-packages.ts";
import type { SkillsAssignment } from "./skills/inside.ts";
import { type BenchSkill, benchSkills, writeSkills } from "./skills/skill-set.ts";

const COUNTS = [25, 56, 216];

export const benchmark: Benchmark = async ({ systems = ["claude-code"] }) => {
  const rows: Row[] = [];
  for (const count of COUNTS) {
    for (const client of systems) rows.push(...(await clientRows(client, count)));
    rows.push(...(await searchRows(count)));
  }
  return rows;
};

async function clientRows(name: string, count: number): Promise<Row[]> {
  const client = findClient(name);
  if (!client) throw new Error(`The lab has no client ${name}.`);
  const installed = installPackages("clients", name, client.packages);
  const missing = whyNoNamespace() ?? ("reason" in installed ? installed.reason : undefined);
  const countTokens = await loadTokenCounter();
  const rows: Row[] = [];
  for (const isBehind of [false, true]) {
    const row = rowsOf(count, `${name} ${isBehind ? "keyhole" : "direct"}`);
    if (missing !== undefined || "reason" in installed) {
      rows.push({ ...row("description", Number.NaN), note: missing ?? "" });
      continue;
    }
    const request = await firstRequest({ client: name, count, isBehind, installed: installed.folder });
    const skills = benchSkills(count);
    const reached = (part: (skill: BenchSkill) => string) =>
      skills.filter((skill) => request.includes(part(skill))).length;
    rows.push(
      row(
        "description",
        reached(({ description }) => description),
      ),
      row(
        "name",
        reached((skill) => skill.name),
      ),
      row("request", countTokens(request), "tokens"),
    );
  }
  return rows;
}

/** The largest request of a run: clients also send small ones, such as for a title. */
async function firstRequest(given: Omit<SkillsAssignment, "folder">): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "kh-skills-"));
  try {
    const inside = resolve(import.meta.dirname, "skills/inside.ts");
    const child = spawnInNamespace(process.execPath, [inside, JSON.stringify({ ...given, folder })]);
    const [errors, [code]] = await Promise.all([text(child.stderr!), once(child, "exit")]);
    if (code !== 0) throw new Error(`${given.client} did not run: ${errors.slice(-500)}`);
    const requests = JSON.parse(readFileSync(join(folder, "requests.json"), "utf8")) as unknown[];
    const texts = requests.map((request) => JSON.stringify(request));
    return texts.toSorted((one, other) => other.length - one.length)[0] ?? "";
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

/** The skills that `ask` finds of the same ones, one need after the other. */
async function searchRows(count: number): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), "kh-skills-"));
  const skills = benchSkills(count);
  writeSkills(folder, skills);
  const gateway = createGateway({
    domains: [],
    sources: fromConfig({ mcpServers: { skills: { skills: [folder] } } }),
  });
  const countTokens = await loadTokenCounter();
  try {
    let [found, tokens] = [0, 0];
    for (const { name, need } of skills) {
      const { hits, text: answer } = await gateway.ask({ query: need });
      if (hits.some(({ route }) => route === `skills://skills/${name}`)) found += 1;
      tokens += countTokens(answer);
    }
    const row = rowsOf(count, "keyhole ask");
    return [row("found", found), row("answer", tokens / count, "tokens")];
  } finally {
    await gateway.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function rowsOf(count: number, system: string) {
  return (metric: string, value: number, unit = "skills"): Row => ({
    bench: "skills",
    case: `${count} skills`,
    system,
    metric,
    value,
    unit,
  });
}
