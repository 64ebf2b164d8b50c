import { mkdirSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate, setTimeout } from "node:timers/promises";
import { onEvent } from "keyhole";
import { expect, onTestFinished, test, vi } from "vitest";
import { verifies } from "./claims.ts";
import { openNotes } from "./library-kit.ts";

const TYPES = "notes://resources/agents/types";
const WAIT = { timeout: 30_000, interval: 5 };

verifies("markdown:reload", "answers follow saved, renamed, new and removed files", async () => {
  const { directory, gateway, read, save } = openNotes();
  await gateway.ready();
  const soon = (route: string, text: string) =>
    vi.waitFor(async () => expect(await read(route)).toContain(text), WAIT);

  save("fragments/agents/types.md", "Written in place.");
  await soon(TYPES, "Written in place.");
  // The same length at once: the size is equal, perhaps also the time.
  save("fragments/agents/types.md", "Written in plaice");
  await soon(TYPES, "Written in plaice");

  for (const text of ["By an editor that renames.", "And once more."]) {
    writeFileSync(join(directory, "fragments/agents/.types.md.swp"), text);
    renameSync(
      join(directory, "fragments/agents/.types.md.swp"),
      join(directory, "fragments/agents/types.md"),
    );
    await soon(TYPES, text);
  }

  save("fragments/new/nested/deeply/here.md", "In new folders.");
  await soon("notes://resources/new/nested/deeply/here", "In new folders.");
  save("fragments/new/nested/deeply/here.md", "Again.");
  await soon("notes://resources/new/nested/deeply/here", "Again.");
  renameSync(join(directory, "fragments/new"), join(directory, "fragments/moved"));
  await soon("notes://resources/moved/nested/deeply/here", "Again.");
  await soon("notes://resources/new/nested/deeply/here", "NOT_FOUND");
  save("fragments/moved/nested/deeply/here.md", "After the move.");
  await soon("notes://resources/moved/nested/deeply/here", "After the move.");
  rmSync(join(directory, "fragments/moved"), { recursive: true });
  await soon("notes://resources/moved/nested/deeply/here", "NOT_FOUND");

  save("prompts/fix.md", "Fix $ARGUMENTS");
  await soon("notes://prompts/fix", "Fix $ARGUMENTS");
  await soon("notes://resources/match?query=error+handling&mode=full", "What to do when calls fail.");
  save("fragments/skills/deep/errors.md", "# Error handling\n\nOtherwise now.");
  await soon("notes://resources/match?query=error+handling&mode=full", "Otherwise now.");
});

verifies("markdown:reload", "a directory may appear after the start and disappear again", async () => {
  const { directory, gateway, read, save, source } = openNotes({});
  await gateway.ready();
  save("fragments/a.md", "Here.");
  await vi.waitFor(async () => expect(await read("notes://resources/a")).toBe("Here."), WAIT);
  renameSync(directory, `${directory}-away`);
  onTestFinished(() => rmSync(`${directory}-away`, { recursive: true, force: true }));
  await vi.waitFor(() => expect(source.diagnostics().problems).toHaveLength(1), WAIT);
  expect(await read("notes://resources/a")).toBe("Here.");
});

verifies(
  "markdown:reload",
  "an invalid file serves its last good content and is reported once, with the place",
  async () => {
    const { gateway, read, save, source } = openNotes();
    const notices: string[] = [];
    onTestFinished(onEvent((event) => event.type === "notice" && notices.push(event.detail)));
    await gateway.ready();
    const before = await read(TYPES);
    save("fragments/agents/types.md", "---\nid: types\ntags: [unclosed\n---\nBroken.");
    await vi.waitFor(() => expect(source.diagnostics().problems).toHaveLength(1), WAIT);
    expect(source.diagnostics().problems[0]).toMatch(/^fragments\/agents\/types\.md:\d+:\d+: /);
    expect(await read(TYPES)).toBe(before);
    save("fragments/skills/deep/errors.md", "Another file.");
    await vi.waitFor(
      async () => expect(await read("notes://resources/skills/deep/errors")).toBe("Another file."),
      WAIT,
    );
    expect(notices.filter((notice) => notice.includes("types.md"))).toHaveLength(1);
    save("fragments/agents/types.md", "---\ncategory: agent\n---\nMended.");
    await vi.waitFor(async () => expect(await read(TYPES)).toBe("Mended."), WAIT);
    expect(source.diagnostics().problems).toEqual([]);
  },
);

verifies(
  "markdown:reload",
  "many saves at once are one change, and a save of the same text is none",
  async () => {
    const { directory, gateway, read, save, source } = openNotes();
    await gateway.ready();
    await source.refresh();
    let changes = 0;
    gateway.onChange(() => changes++);
    for (let count = 0; count < 20; count++) save(`fragments/agents/many-${count}.md`, `Number ${count}.`);
    await source.refresh();
    expect(await read("notes://resources/agents/many-19")).toBe("Number 19.");
    expect(changes).toBe(1);
    for (let count = 0; count < 20; count++) save(`fragments/agents/many-${count}.md`, `Number ${count}.`);
    mkdirSync(join(directory, "fragments/empty"));
    await source.refresh();
    expect(changes).toBe(1);
  },
);

verifies("markdown:reload", "without watching, refresh reads changed files", async () => {
  const { gateway, read, save, source } = openNotes(undefined, { watch: false });
  await gateway.ready();
  save("fragments/agents/types.md", "Refreshed.");
  await source.refresh();
  expect(await read(TYPES)).toBe("Refreshed.");
  save("fragments/agents/types.md", "Rebuilt..");
  await gateway.sources.rebuild();
  expect(await read(TYPES)).toBe("Rebuilt..");
});

verifies("markdown:reload", "500 broken and half-written saves fail no answer", async () => {
  const { directory, gateway, read, save, source } = openNotes();
  await gateway.ready();
  const good = new Set([await read(TYPES)]);
  const file = join(directory, "fragments/agents/types.md");
  const whole = (count: number) =>
    `---\nid: types-core\ntags: [types]\n---\nVersion ${count} of the text, to its very end.`;
  const saves: ((count: number) => void)[] = [
    (count) => writeFileSync(file, whole(count).slice(0, 12)),
    () => truncateSync(file, 0),
    () => writeFileSync(file, "---\ntags: {a: [}\n---\nNot this."),
    () => writeFileSync(file, Buffer.from([0x2d, 0x2d, 0x2d, 0x0a, 0xff, 0xfe, 0x00])),
    () => writeFileSync(file, "---\nscopes: []\n---\nNot this."),
    () => rmSync(file),
    (count) => {
      good.add(`Version ${count} of the text, to its very end.`);
      writeFileSync(file, whole(count));
    },
  ];
  let over = false;
  const answers = new Set<string>();
  const load = Array.from({ length: 4 }, async () => {
    while (!over) {
      await setImmediate();
      answers.add(await read(TYPES));
      expect((await gateway.ask({ query: "design types" })).hits.length).toBeGreaterThan(0);
    }
  });
  for (let count = 0; count < 500; count++) {
    // A removed file comes back before the library counts it as removed.
    saves[count % saves.length]!(count);
    if (count % saves.length === 5) save("fragments/agents/types.md", "---\nunclosed");
    if (count % 3 === 0) await setImmediate();
    if (count % 25 === 0) await setTimeout(60);
  }
  writeFileSync(file, "---\nnot: closed");
  await source.refresh();
  over = true;
  await Promise.all(load);
  answers.add(await read(TYPES));
  expect([...answers].filter((answer) => !good.has(answer))).toEqual([]);
  expect(source.diagnostics().problems.join()).toContain("fragments/agents/types.md:1:1");
  writeFileSync(file, "At last.");
  await vi.waitFor(async () => expect(await read(TYPES)).toBe("At last."), WAIT);
});

test("a source serves one gateway after another", async () => {
  const { gateway, source } = openNotes();
  await gateway.ready();
  await gateway.close();
  await source.refresh();
  const seen = [];
  for await (const { drafts } of source.contents(new AbortController().signal)) {
    seen.push(drafts.length);
    break;
  }
  expect(seen).toEqual([7]);
});

verifies(
  "markdown:reload",
  "skills reload too, and a broken skill serves its last good content",
  async () => {
    const skill = (text: string) => `---\nname: pack\ndescription: How to pack a parcel.\n---\n${text}`;
    const { directory, read, save, source } = openNotes({ "skills/pack/SKILL.md": skill("Wrap it.") });
    const route = "notes://skills/pack";
    expect(await read(route)).toContain("Wrap it.");
    save("skills/pack/SKILL.md", skill("Wrap it twice."));
    await vi.waitFor(async () => expect(await read(route)).toContain("Wrap it twice."), WAIT);
    save("skills/pack/SKILL.md", "---\nname: pack\n");
    await vi.waitFor(() => expect(source.diagnostics().problems.join()).toContain("SKILL.md"), WAIT);
    expect(await read(route)).toContain("Wrap it twice.");
    save("skills/send/SKILL.md", skill("Send it.").replace("name: pack", "name: send"));
    await vi.waitFor(async () => expect(await read("notes://skills/send")).toContain("Send it."), WAIT);
    rmSync(join(directory, "skills/pack"), { recursive: true });
    await vi.waitFor(async () => expect(await read(route)).toBe("NOT_FOUND"), WAIT);
  },
);
