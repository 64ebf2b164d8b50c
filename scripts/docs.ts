// npm run docs: writes the reference pages that come from code. With --check, fails if they are outdated.
import { readFileSync, writeFileSync } from "node:fs";
import { z } from "zod";
import { withSteps } from "../src/base/problems/format-message.ts";
import { PROBLEMS } from "../src/base/problems/problems.ts";
import { settingsFileSchema } from "../src/program/open/settings-schema.ts";
import { GROUPS, OTHERS } from "../src/program/program.ts";
import { CLAIMS } from "../test/claims.ts";
import { PAGES } from "../test/doc-blocks.ts";
import { FOLDERS, ROOMS } from "../test/layers.ts";
import { clientFacts } from "./client-facts.ts";
import { clientSnippets } from "./client-snippets.ts";
import { clientSearches, clientSurfaces, clientTours, deferringChange } from "./client-tours.ts";
import { eightServersView, modelView } from "./model-view.ts";
import { providersTable, providerVariablesTable } from "./provider-tables.ts";

const pages: Record<string, string> = {
  "docs/problems.md": problemsPage(),
  "settings.schema.json": settingsSchema(),
  "ARCHITECTURE.md": architecturePage(),
  "docs/models.md": withPart("docs/models.md", "providers", providersTable()),
  "docs/configuration.md": withPart("docs/configuration.md", "providers", providerVariablesTable()),
  "docs/command-line.md": withPart("docs/command-line.md", "commands", await commandsTable()),
  "README.md": withPart("README.md", "view", await modelView()).replace(
    /[\d.]+ to [\d.]+ %(?= fewer input tokens)/,
    await deferringChange(),
  ),
  "docs/mcp.md": withPart("docs/mcp.md", "eight", await eightServersView()),
  "docs/figures.md": withPart("docs/figures.md", "claims", claimsTable()),
  "docs/clients.md": withParts("docs/clients.md", {
    clients: await clientSnippets(),
    lab: await clientFacts(),
    tour: await clientTours(),
    surfaces: await clientSurfaces(),
    searches: await clientSearches(),
  }),
};
for (const path of PAGES) pages[path] = withExamples(pages[path] ?? read(path) ?? "");
const check = process.argv.includes("--check");
const stale = Object.entries(pages).filter(([path, text]) => read(path) !== text);
if (!check) for (const [path, text] of stale) writeFileSync(path, text);
if (check && stale.length > 0) {
  console.error(`Outdated: ${stale.map(([path]) => path).join(", ")}. Run npm run docs.`);
  process.exit(1);
}

function problemsPage(): string {
  const rows = Object.entries(PROBLEMS).map(
    ([code, { sentence, next, when }]) =>
      `## ${code}\n\n${when}\n\n> ${sentence.replaceAll("\n", "\n> ")}\n\nNext: ${[next]
        .flat()
        .map((text) => withSteps(text))
        .join(" ")}\n`,
  );
  const intro =
    "For people and programs that met a problem. Every problem has a code, one sentence and the next step. Match it by its code. `{words}` are filled in; `{exec}`, `{get}`, `{ask}`, `{help}` and `{dry_run}` become the words that the surface has for them, and a step that a surface has no tool for is left out.\n\n";
  return ["# Problems\n", intro, ...rows].join("\n");
}

/** Replaces the table of folders in the page. */
function architecturePage(): string {
  const rows = ROOMS.map(({ name, holds }) => `| \`${name}${name.includes(".") ? "" : "/"}\` | ${holds} |`);
  const folders = Object.entries(FOLDERS).map(
    ([room, layers]) =>
      `Inside \`${room}/\`, from the first row to the last: ${layers.map((row) => row.map((name) => `\`${name}\``).join(", ")).join(" → ")}.`,
  );
  const table = ["| room | holds |", "|---|---|", ...rows, "", ...folders].join("\n");
  const page = read("ARCHITECTURE.md") ?? "";
  return page.replace(
    /(<!-- layers -->\n)[\s\S]*?(<!-- \/layers -->)/,
    (_, begin, end) => `${begin}${table}\n${end}`,
  );
}

/** The commands by group, as `keyhole --help` has them. */
async function commandsTable(): Promise<string> {
  const rows = Object.entries({ ...GROUPS, "Beside them": OTHERS }).flatMap(([group, commands]) =>
    commands.map(async ({ name, summary, load }) => {
      const { page } = await load();
      const more = page === undefined ? "" : `[${page.split("#")[0]}](${page})`;
      return `| ${group} | \`${name}\` | ${summary} | ${more} |`;
    }),
  );
  return ["| to | command | purpose | more |", "|---|---|---|---|", ...(await Promise.all(rows))].join("\n");
}

/** How many claims of each kind there are, with the first of them as an example. */
function claimsTable(): string {
  const rows = Object.entries(CLAIMS).map(([kind, claims]) => {
    const sentences: readonly string[] = Object.values(claims);
    return `| ${kind}s | ${sentences.length} | ${sentences[0]} |`;
  });
  return ["| claims | number | example |", "|---|---|---|", ...rows].join("\n");
}

/** Fills the blocks that repeat an example: `<!-- examples/programs/gateway.ts -->` above the block names it. */
function withExamples(page: string): string {
  return page.replace(
    /(<!-- (examples\/\S+) -->\n```ts\n)[\s\S]*?(?=```)/g,
    (_, begin, file) => `${begin}${read(file)}`,
  );
}

/** The JSON Schema that editors use to complete and check settings files. */
function settingsSchema(): string {
  const schema = z.toJSONSchema(settingsFileSchema, { target: "draft-7" });
  return `${JSON.stringify({ title: "Settings of Keyhole", ...schema }, undefined, 2)}\n`;
}

function withPart(path: string, name: string, part: string): string {
  return withParts(path, { [name]: part });
}

/** Replaces the parts between the page's markers. */
function withParts(path: string, parts: Readonly<Record<string, string>>): string {
  return Object.entries(parts).reduce((page, [name, part]) => {
    const marked = new RegExp(`(<!-- generated: ${name} -->\\n)[\\s\\S]*?\\n?(<!-- end -->)`);
    return page.replace(marked, (_, begin, end) => `${begin}${part}\n${end}`);
  }, read(path) ?? "");
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
