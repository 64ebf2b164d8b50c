import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { buildLibraryIndex } from "../src/sources/markdown/library-index.ts";
import { verifies } from "./claims.ts";
import { NOTES, openNotes } from "./library-kit.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const TYPES = "notes://resources/agents/types";
const LOOKUP = "notes://resources/match?query=designing+interfaces&mode=index&minScore=1";

async function builtNotes(): Promise<string> {
  const directory = temporaryFolder();
  openNotes(NOTES, { directory });
  await buildLibraryIndex(directory);
  return directory;
}

verifies("markdown:index", "a start with the index gives the same entries as a start without", async () => {
  const directory = await builtNotes();
  const withIndex = openNotes({}, { directory });
  const without = openNotes({}, { directory, indexDirectory: join(directory, "none") });
  await Promise.all([withIndex.gateway.ready(), without.gateway.ready()]);
  expect(withIndex.source.diagnostics().index).toBe("used");
  expect(without.source.diagnostics().index).toBe("absent");
  expect(withIndex.gateway.version).toBe(without.gateway.version);
  expect(await withIndex.read(LOOKUP)).toBe(await without.read(LOOKUP));
});

verifies("markdown:index", "unchanged files are read from the index alone", async () => {
  const directory = await builtNotes();
  const file = join(directory, "fragments/agents/types.md");
  const past = new Date(Date.now() - 60_000);
  utimesSync(file, past, past);
  await buildLibraryIndex(directory);
  const text = readFileSync(file, "utf8");
  // Text of the same size and time can be detected by reading only.
  writeFileSync(file, text.replace("How to", "Why to"));
  utimesSync(file, past, past);
  const { read } = openNotes({}, { directory, watch: false });
  const same = text.length === text.replace("How to", "Why to").length;
  expect([same, await read(TYPES)]).toEqual([true, expect.stringContaining("How to")]);
});

verifies("markdown:index", "detects files that were changed, added or removed since", async () => {
  const directory = await builtNotes();
  writeFileSync(join(directory, "fragments/agents/types.md"), "Changed since.");
  writeFileSync(join(directory, "fragments/agents/added.md"), "Added since, for designing interfaces.");
  rmSync(join(directory, "fragments/skills/deep"), { recursive: true });
  const { read, source } = openNotes({}, { directory });
  expect(await read(TYPES)).toBe("Changed since.");
  expect(await read("notes://resources/agents/added")).toContain("Added since");
  expect(await read("notes://resources/skills/deep/errors")).toBe("NOT_FOUND");
  expect(await read("notes://resources/match?query=handling+errors&mode=index")).toContain("No fragment");
  expect(source.diagnostics().index).toBe("used");
});

verifies(["markdown:index", "index-damage"], "a damaged, cut or old index is not used", async () => {
  const directory = await builtNotes();
  const path = (file: string) => join(directory, ".index", file);
  const whole = readFileSync(path("files.index"));
  const flipped = Buffer.from(whole);
  flipped[whole.length - 5]! ^= 1;
  const old = Buffer.from(whole.toString("latin1").replace('"version":"5"', '"version":"0"'), "latin1");
  for (const damaged of [
    flipped,
    whole.subarray(0, whole.length - 9),
    old,
    Buffer.alloc(0),
    Buffer.from("{}"),
  ]) {
    writeFileSync(path("files.index"), damaged);
    const { read, source } = openNotes({}, { directory });
    expect(await read(TYPES)).toContain("How to design types.");
    expect(source.diagnostics().index).toMatchObject({ reason: expect.stringContaining("index") });
  }
});

verifies("markdown:index", "keyhole catalog index writes it and names the files it left out", () => {
  const directory = temporaryFolder();
  openNotes({ ...NOTES, "fragments/broken.md": "---\nid: a" }, { directory });
  const out = join(directory, "elsewhere");
  const run = (...args: string[]) =>
    spawnSync(process.execPath, ["src/program/main.ts", "catalog", ...args], { encoding: "utf8" });
  const built = run("index", directory, "--out", out, "--json");
  expect(JSON.parse(built.stdout)).toMatchObject({ files: 5, fragments: 3 });
  expect(JSON.parse(built.stdout).problems).toEqual([expect.stringContaining("fragments/broken.md:1:1")]);
  expect(built.status).toBe(1);
  expect(readFileSync(join(out, "files.index"), "utf8")).toContain('"version":"5"');
  expect(run("index", join(directory, "nowhere")).stderr).toContain("INVALID_INPUT");
  expect(run("indx").status).toBe(1);
});

verifies("markdown:index", "files that are in use only in part are named, and the index is whole", () => {
  const directory = temporaryFolder();
  const colon = "---\nuseWhen:\n  - Building APIs: with Node\n---\n# APIs\n\nText.";
  openNotes({ ...NOTES, "rules/spare.md": "**Spare:** none.", "fragments/apis.md": colon }, { directory });
  const built = spawnSync(process.execPath, ["src/program/main.ts", "catalog", "index", directory], {
    encoding: "utf8",
  });
  expect(built.stdout).toContain("Files: 7");
  expect(built.stderr).toContain("rules/spare.md: no entry has its category, so these rules are not used");
  expect(built.stderr).toContain(
    "fragments/apis.md: useWhen has an item with a colon, which was read as text",
  );
  expect(built.status).toBe(0);
  // A start that reads the index says the same.
  const { source, gateway } = openNotes({}, { directory });
  return gateway.ready().then(() => {
    expect(source.diagnostics().index).toBe("used");
    expect(source.diagnostics().problems).toEqual([
      expect.stringContaining("fragments/apis.md"),
      expect.stringContaining("rules/spare.md"),
    ]);
  });
});
