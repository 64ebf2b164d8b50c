import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { CLIENTS } from "../../src/program/clients/clients.ts";
import { SKILLS_LINE } from "../../src/program/clients/plan-skills.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { chaos, listedHash, openProgram } from "../threats/program.ts";
import { clientOf, setUp, write } from "./kit.ts";

function writeSkill(folder: string, name: string, description: string, body = "Read the tests first."): void {
  write(join(folder, name, "SKILL.md"), `---\nname: ${name}\ndescription: ${description}\n---\n${body}\n`);
}

/** A home with skills in the folders of several clients and of a plugin. */
function homeWithSkills(): string {
  const home = temporaryFolder();
  writeSkill(
    join(home, ".claude/skills"),
    "release-notes",
    "Writes what users read.",
    "Sort the pull requests by what a subscriber notices.",
  );
  writeSkill(join(home, ".agents/skills"), "sql-review", "Reviews a migration of a database.");
  writeSkill(join(home, ".codex/skills"), "night-watch", "Looks after a machine at night.");
  const plugin = join(home, ".claude/plugins/cache/shop/invoices/1.0.0");
  writeSkill(join(plugin, "skills"), "dunning", "Writes a reminder to a customer who has not paid.");
  writeSkill(join(home, ".claude/plugins/cache/shop/off/1.0.0/skills"), "gone", "Is switched off.");
  const copy = (path: string) => [{ scope: "user", installPath: path, version: "1.0.0" }];
  write(
    join(home, ".claude/plugins/installed_plugins.json"),
    JSON.stringify({
      version: 2,
      plugins: {
        "invoices@shop": copy(plugin),
        "off@shop": copy(join(home, ".claude/plugins/cache/shop/off/1.0.0")),
      },
    }),
  );
  write(join(home, ".claude/settings.json"), JSON.stringify({ enabledPlugins: { "off@shop": false } }));
  return home;
}

/** Approves everything that waits: what servers run and read, then their tools. Returns what was shown. */
async function approveAll(keyhole: ReturnType<typeof openProgram>["keyhole"]): Promise<string> {
  const shown: string[] = [];
  for (;;) {
    const { out } = await keyhole("approve");
    shown.push(out);
    const hash = /Hash: (\w+)/.exec(out)?.[1];
    if (hash === undefined) return shown.join("\n");
    await keyhole("approve", "--hash", hash);
  }
}

test("skills of the person are found with tools, by their text too, once a person has agreed", async () => {
  const home = homeWithSkills();
  const { keyhole, serve, folder } = openProgram({ home });
  onTestFinished(async () => {
    await keyhole("serve", "--stop");
  });
  const servers = { skills: { skills: true }, shop: chaos() };
  write(join(home, ".keyhole/settings.json"), JSON.stringify({ mcpServers: servers }));
  writeSkill(join(folder, ".claude/skills"), "deploy-site", "Deploys the site of this folder.");

  const before = await (await serve())("ask", { query: "sort pull requests by what a subscriber notices" });
  expect(before).not.toContain("release-notes");
  const shown = await approveAll(keyhole);
  expect(shown).toContain(join(home, ".claude/skills"));
  expect(shown).toContain(join(home, ".claude/plugins"));

  const call = await serve();
  const byBody = await call("ask", { query: "sort pull requests by what a subscriber notices" });
  expect(byBody).toContain("skills://skills/release-notes");
  const together = await call("ask", {
    query: "add two numbers in a reminder to a customer who has not paid",
  });
  expect(together).toContain("skills://skills/dunning");
  expect(together).toContain("shop://tools/add");
  expect(await call("get", { routes: ["skills.skills.night-watch"] })).toContain("Read the tests first");
  expect(await call("ask", { query: "is switched off" })).not.toContain("skills/gone");

  expect(await call("ask", { query: "deploy the site of this folder" })).not.toContain("deploy-site");
  const { out } = await keyhole("approve", ".");
  expect(out).toContain(".claude/skills/deploy-site/SKILL.md");
  await keyhole("approve", ".", "--hash", listedHash(out));
  expect(await (await serve())("ask", { query: "deploy the site of this folder" })).toContain("deploy-site");
  const elsewhere = openProgram({ home });
  const other = await (await elsewhere.serve())("ask", { query: "deploy the site of this folder" });
  expect(other).not.toContain("deploy-site");
}, 120_000);

test("the first list of tools names the skills, also if reading them takes a while, and a search waits for them", async () => {
  const home = temporaryFolder();
  for (let count = 0; count < 400; count += 1)
    writeSkill(join(home, ".claude/skills"), `skill-${count}`, `Looks after the machine number ${count}.`);
  write(
    join(home, ".keyhole/settings.json"),
    JSON.stringify({ mcpServers: { skills: { skills: [join(home, ".claude/skills")] } } }),
  );
  const { keyhole, client } = openProgram({ home });
  await approveAll(keyhole);
  const connected = await client(undefined, "--no-daemon");
  const { tools } = await connected.listTools();
  expect(tools[0]!.description).toContain("For skills.");
  const { content } = await connected.callTool({ name: "ask", arguments: { query: "machine number 321" } });
  expect(JSON.stringify(content)).toContain("skills://skills/skill-321");
});

const HIDDEN: Readonly<Record<string, readonly string[]>> = {
  "claude-code": ["release-notes"],
  codex: [".agents/skills/sql-review/SKILL.md", ".codex/skills/night-watch/SKILL.md"],
  gemini: ["sql-review"],
  opencode: ["release-notes", "sql-review"],
};

test.each(CLIENTS.filter(({ skills }) => skills).map(({ name }) => name))(
  "%s gets one line and hides its own copies, and the undo restores every byte",
  async (name) => {
    const home = homeWithSkills();
    const { machine, ownPath, plan, connections } = setUp(home);
    const client = clientOf(name);
    const instructions = client.skills!.instructions(machine);
    write(instructions, "# Mine\r\n\r\nBe brief.\r\n");
    const { path } = client.skills!.hiding!(machine);
    const settings = readOr(path);

    await connections.make(await plan(client, { withSkills: true }));
    expect(readFileSync(instructions, "utf8")).toBe(`# Mine\r\n\r\nBe brief.\r\n${SKILLS_LINE}\r\n`);
    for (const hidden of HIDDEN[name]!) expect(readFileSync(path, "utf8")).toContain(hidden);
    const own = JSON.parse(readFileSync(ownPath, "utf8"));
    expect(own.mcpServers.skills).toEqual({ skills: true });
    expect(Object.keys(own.profiles[name].servers)).toContain("skills");
    const earlier = await connections.profilesOf(name);
    const again = await plan(client, { withSkills: true, earlier });
    expect(again.own).toBeUndefined();
    expect(again.files.filter(({ before, after }) => before !== after)).toEqual([]);

    await connections.undo(name);
    expect(readFileSync(instructions, "utf8")).toBe("# Mine\r\n\r\nBe brief.\r\n");
    expect(readOr(path)).toBe(settings);
  },
);

test("an undo leaves what the person has written since, also where the line is gone", async () => {
  const home = homeWithSkills();
  const { plan, connections } = setUp(home);
  const client = clientOf("claude-code");
  const [notes, settings] = ["CLAUDE.md", "settings.json"].map((file) => join(home, ".claude", file)) as [
    string,
    string,
  ];
  write(notes, "Be brief.\n");
  await connections.make(await plan(client, { withSkills: true }));
  writeFileSync(notes, "Be very brief.\n");
  const changed = { ...JSON.parse(readFileSync(settings, "utf8")), theme: "dark" };
  writeFileSync(settings, JSON.stringify(changed));
  await connections.undo("claude-code");
  expect(readFileSync(notes, "utf8")).toBe("Be very brief.\n");
  expect(JSON.parse(readFileSync(settings, "utf8"))).toEqual({
    enabledPlugins: { "off@shop": false },
    skillOverrides: {},
    theme: "dark",
  });
});

test("a skill that Keyhole cannot read stays with the client", async () => {
  const home = temporaryFolder();
  mkdirSync(join(home, ".claude/skills/broken"), { recursive: true });
  writeFileSync(join(home, ".claude/skills/broken/SKILL.md"), "no front matter");
  const { plan } = setUp(home);
  const planned = await plan(clientOf("claude-code"), { withSkills: true });
  expect(planned.files.map(({ path }) => path)).not.toContain(join(home, ".claude/settings.json"));
});

function readOr(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
