import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createGateway } from "keyhole";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { createMarkdownSource } from "./markdown-source.ts";

test("smoke", async () => {
  const directory = temporaryFolder();
  const save = (path: string, text: string) => {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  };
  save("prompts/workflows/new-project.md", "---\ndescription: Start\narguments:\n  - name: description\n    required: true\n---\nBuild ${description} now. $ARGUMENTS\n");
  save("fragments/agents/core.md", "---\nid: ts-core\ntags: [typescript]\nuseWhen: [Designing types]\n---\n# Core\n\nAll about types. See `async.md`.\n");
  save("fragments/agents/async.md", "# Async\n\nText.\n\n## When to use\n\n- Building async apps\n- Waiting for types\n");
  save("rules/agents.md", "Be brief.\n");
  const source = createMarkdownSource("lib", { directory, description: "Notes" });
  const gateway = createGateway({ domains: [], sources: [source] });
  await gateway.ready();
  console.log((await gateway.ask({ query: "designing types", session: "new" })).text);
  console.log((await gateway.get({ routes: [{ route: "lib://resources/match?query=types+async&mode=index" }, { route: "lib://resources/match?query=types" }, { route: "lib://resources/match?query=types&mode=full&minScore=1" }, { route: "lib://prompts/workflows/new-project", params: { description: "x ${description}" } }, { route: "lib://prompts/workflows/new-project" }] })).text);
  console.log((await gateway.help({ path: "lib.resources.agents.core", format: "full" })).text, source.diagnostics());
  await gateway.close();
  expect(1).toBe(1);
});
