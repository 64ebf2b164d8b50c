// Walks the skills chapter of the agent framework's document: its manifest, tiers, ranking, toolsets and sources.
import { loadTokenCounter } from "keyhole";
import { discloseSkills, readSkills } from "keyhole/sources";
import type { ScriptedReply } from "keyhole/testing";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../temporary-folder.ts";
import { instructionsOf, openTerminalAgent, saveFiles } from "./terminal-agent.ts";

const countTokens = await loadTokenCounter();

/** The messages of a request: a skill enters the conversation as a note beside the prompt that calls for it. */
function conversationOf(request: Parameters<typeof instructionsOf>[0]): string {
  return (request?.messages ?? [])
    .filter(({ role }) => role === "user")
    .map(({ text }) => text)
    .join("\n");
}

const HELLO = `---
name: hello-extended
description: Extended greeting capabilities
version: 1.0.0
toolsets:
  - "toolsets/index:HelloToolset"     # path:Class format
triggers:
  keywords: ["hello", "greet", "greeting"]
  verbs: ["say", "wave"]
  patterns: ["greet\\\\s+\\\\w+"]
default_enabled: true                  # For bundled skills
---

# Hello Extended Skill

Instructions for using this skill...
`;

const TOOLSET = `
export class HelloToolset {
  getTools() {
    return [{
      name: "greet_in_language",
      description: "Greets a person by name in a language.",
      execute: ({ name }: { name: string }) => ({ success: true, result: \`Bok, \${name}!\`, message: "Greeted." }),
      inputSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    }];
  }
}
`;

/** A skill with the standard's two fields alone. */
const plain = (name: string, description: string, body = "Do it well.") =>
  `---\nname: ${name}\ndescription: ${description}\n---\n${body}\n`;

const HELLO_FILES = {
  ".keyhole/skills/hello-extended/SKILL.md": HELLO,
  ".keyhole/skills/hello-extended/toolsets/index.ts": TOOLSET,
};

async function skillsOf(files: Readonly<Record<string, string>>) {
  const folder = temporaryFolder();
  saveFiles(folder, files);
  const { skills, refused } = await readSkills([{ origin: "user", folder }]);
  expect(refused).toEqual([]);
  return skills;
}

describe("the manifest", () => {
  test("the document's example is read with all its fields", async () => {
    const [skill] = await skillsOf({
      "hello-extended/SKILL.md": HELLO,
      "hello-extended/toolsets/index.ts": TOOLSET,
    });
    expect(skill).toMatchObject({
      name: "hello-extended",
      description: "Extended greeting capabilities",
      briefDescription: "Extended greeting capabilities",
      version: "1.0.0",
      toolsets: [{ path: "toolsets/index", className: "HelloToolset" }],
      triggers: { keywords: ["hello", "greet", "greeting"], verbs: ["say", "wave"] },
      defaultEnabled: true,
    });
    expect(skill?.body).toContain("# Hello Extended Skill");
  });
});

describe("progressive disclosure", () => {
  test("tier 1: a breadcrumb of ten tokens if no trigger matches", async () => {
    const skills = await skillsOf({ "hello-extended/SKILL.md": HELLO });
    const { tier, text } = discloseSkills("write a poem", skills);
    expect({ tier, text }).toEqual({ tier: "breadcrumb", text: "[1 skill available]" });
    expect(countTokens(text)).toBeLessThanOrEqual(10);
  });

  test.each(["what can you do?", "list skills"])(
    "tier 2: %s gives names and brief descriptions",
    async (query) => {
      const skills = await skillsOf({ "hello-extended/SKILL.md": HELLO });
      const { tier, text } = discloseSkills(query, skills);
      expect(tier).toBe("registry");
      expect(text).toContain("- hello-extended: Extended greeting capabilities");
      expect(countTokens(text.split("\n")[1]!)).toBeLessThanOrEqual(15);
    },
  );

  test.each(["hello there", "please greet Ada", "wave at them", "greet everybody"])(
    "tier 3: %s gives the complete instructions",
    async (query) => {
      const skills = await skillsOf({ "hello-extended/SKILL.md": HELLO });
      const { tier, text } = discloseSkills(query, skills);
      expect(tier).toBe("full");
      expect(text).toContain("Instructions for using this skill...");
    },
  );
});

describe("ranking", () => {
  const triggered = (name: string, keyword: string) =>
    `---\nname: ${name}\ndescription: Does ${name}.\ntriggers:\n  keywords: ["${keyword}"]\n---\nThe text of ${name}.\n`;
  const FILES = Object.fromEntries(
    ["tidy-a", "tidy-b", "tidy-c", "tidy-d"].map((name) => [`${name}/SKILL.md`, triggered(name, "tidy")]),
  );
  const namesOf = (query: string, skills: Awaited<ReturnType<typeof skillsOf>>, more = {}) =>
    discloseSkills(query, skills, more).skills.map(({ name }) => name);

  test("1. explicit mention, 2. exact phrase, 3. recent usage; three at most", async () => {
    const skills = await skillsOf({ ...FILES, "tidy-up/SKILL.md": triggered("tidy-up", "tidy the attic") });
    expect(namesOf("tidy the attic with tidy-d", skills)).toEqual(["tidy-d", "tidy-up", "tidy-a"]);
    expect(namesOf("tidy it", skills, { recent: ["tidy-c", "tidy-b"] })).toEqual([
      "tidy-c",
      "tidy-b",
      "tidy-a",
    ]);
  });

  test("the agent injects maxSkills skills, those used last in the conversation first", async () => {
    const project = Object.fromEntries(
      Object.entries(FILES).map(([path, text]) => [`.keyhole/skills/${path}`, text]),
    );
    const { ask, server } = await openTerminalAgent(() => ({ text: "Done." }), {
      settings: { skills: { maxSkills: 2 } },
      project,
      trusted: true,
    });
    const shown = (at: number) =>
      [...conversationOf(server.requests[at]).matchAll(/# Skill: (\S+)/g)].map(([, name]) => name);
    const first = await ask("tidy my desk");
    expect(shown(0)).toEqual(["tidy-a", "tidy-b"]);
    expect(first.events[0]).toMatchObject({ type: "agent-start", skills: ["tidy-a", "tidy-b"] });
    await ask("use tidy-d now");
    const third = await ask("tidy my desk again");
    expect(third.events[0]).toMatchObject({ type: "agent-start", skills: ["tidy-d", "tidy-a"] });
    // A skill that the conversation has is not repeated.
    expect(shown(2)).toEqual(["tidy-a", "tidy-b", "tidy-d"]);
  });
});

/** The mode in which a search adds the tools that it finds to the next request. */
const DISCOVER = { agent: { mode: "discover" } };

describe("skills as the standard has them", () => {
  const FILES = {
    ".agents/skills/review-sql/SKILL.md": plain(
      "review-sql",
      "Review a database migration.",
      "Look at the locks first.",
    ),
  };

  test("the model finds a skill by its description, and loads it", async () => {
    const script: ScriptedReply[] = [
      { calls: [{ name: "tool_search", args: { query: "check a database migration" } }] },
      { calls: [{ name: "review-sql", args: {} }] },
      { text: "I know how." },
    ];
    const { ask, server } = await openTerminalAgent(script, { home: FILES, settings: DISCOVER });
    const { end } = await ask("Is my migration safe?");
    expect(end).toMatchObject({ outcome: "answered", steps: 3 });
    expect(instructionsOf(server.requests[0])).toContain(
      "Skills, to be found by name:\n- review-sql: Review",
    );
    expect(server.requests[1]?.tools).toContain("review-sql");
    expect(server.requests[2]?.messages.at(-1)?.text).toContain("Look at the locks first.");
  });

  test("with the chat's fixed tools, the list says where a skill is read", async () => {
    const script: ScriptedReply[] = [
      { calls: [{ name: "ask", args: { query: "check a database migration" } }] },
      { calls: [{ name: "get", args: { routes: [{ route: "skills://skills/review-sql" }] } }] },
      { text: "I know how." },
    ];
    const { ask, server } = await openTerminalAgent(script, { home: FILES });
    await ask("Is my migration safe?");
    expect(instructionsOf(server.requests[0])).toContain("Skills, read at skills://skills/NAME:");
    expect(server.requests[1]?.messages.at(-1)?.text).toContain("skills://skills/review-sql");
    expect(server.requests[2]?.messages.at(-1)?.text).toContain("Look at the locks first.");
  });
});

describe("toolsets", () => {
  const SCRIPT: ScriptedReply[] = [
    { calls: [{ name: "tool_search", args: { query: "greet a person in a language" } }] },
    { calls: [{ name: "greet_in_language", args: { name: "Ada" } }] },
    { text: "Greeted." },
  ];

  test('"toolsets/index:HelloToolset" of a trusted project loads, and its tools run', async () => {
    const { ask, server, told } = await openTerminalAgent(SCRIPT, {
      project: HELLO_FILES,
      trusted: true,
      settings: DISCOVER,
    });
    await ask("hello");
    expect(told).toEqual([]);
    expect(server.requests[1]?.tools).toContain("greet_in_language");
    expect(server.requests[2]?.messages.at(-1)?.text).toContain("Bok, Ada!");
  });

  test("an untrusted project's toolset does not load, and its skill is not shown", async () => {
    const { ask, server, told } = await openTerminalAgent(SCRIPT, {
      project: HELLO_FILES,
      settings: DISCOVER,
    });
    await ask("hello");
    expect(told.join("\n")).toContain("keyhole approve .");
    expect(server.requests[1]?.tools).not.toContain("greet_in_language");
    expect(instructionsOf(server.requests[0])).not.toContain("Hello Extended Skill");
  });

  test("a toolset in the home folder loads once the settings name its skill", async () => {
    const loose = await openTerminalAgent(SCRIPT, { home: HELLO_FILES, settings: DISCOVER });
    await loose.ask("hello");
    expect(loose.server.requests[1]?.tools).not.toContain("greet_in_language");
    const named = await openTerminalAgent(SCRIPT, {
      home: HELLO_FILES,
      settings: { ...DISCOVER, skills: { enabled: ["hello-extended"] } },
    });
    await named.ask("hello");
    expect(named.server.requests[1]?.tools).toContain("greet_in_language");
  });
});

describe("sources", () => {
  test("three bundled skills ship, and each appears for its own words", async () => {
    const { ask, server } = await openTerminalAgent(() => ({ text: "Yes." }));
    for (const prompt of ["write a skill for releases", "add an mcp server", "review my changes", "a poem"])
      await ask(prompt);
    const told = server.requests.map(conversationOf);
    for (const [at, name] of ["write-skill", "add-server", "review-changes"].entries())
      expect(told[at]).toContain(`# Skill: ${name} (bundled)`);
    expect(instructionsOf(server.requests[3])).toContain("[3 skills available]");
  });

  test("a bundled skill can be disabled, and a skill of the user takes its place", async () => {
    const own = plain("review-changes", "Our own review.", "Ask Grace.");
    const { ask, server } = await openTerminalAgent(() => ({ text: "Yes." }), {
      settings: { skills: { disabled: ["write-skill"] } },
      home: { ".keyhole/skills/review-changes/SKILL.md": own },
    });
    await ask("use review-changes");
    await ask("write a skill");
    expect(conversationOf(server.requests[0])).toContain("Ask Grace.");
    expect(conversationOf(server.requests[1])).not.toContain("# Skill: write-skill");
  });

  test("a broken skill is told, and the others are used", async () => {
    const { told } = await openTerminalAgent(() => ({ text: "Yes." }), {
      home: { ".keyhole/skills/broken/SKILL.md": "---\nname: other\ndescription: x\n---\n" },
    });
    expect(told.join("\n")).toMatch(/broken.*name/);
  });
});
