import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { plant } from "../../../test/chat-kit.ts";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { readAgentsFiles } from "./agents-files.ts";

async function textsOf(files: Readonly<Record<string, string>>, user?: string) {
  const project = temporaryFolder();
  plant(project, { ".git/HEAD": "", ...files });
  return (await readAgentsFiles(project, user)).map(({ text }) => text);
}

test("files that an AGENTS.md includes follow it, each once, also those that they include", async () => {
  expect(
    await textsOf({
      "AGENTS.md": "Read @docs/one.md, and (ask @nobody). Mail me@docs/two.md.",
      "docs/one.md": "One. @two.md @../AGENTS.md",
      "docs/two.md": "Two. @one.md",
    }),
  ).toEqual([expect.stringContaining("Read"), "One. @two.md @../AGENTS.md", "Two. @one.md"]);
});

test("code, files outside of the project, keys, and what is not text are not included", async () => {
  const project = temporaryFolder();
  const outside = temporaryFolder();
  plant(outside, { "secret.md": "canary" });
  plant(project, {
    ".git/config": "canary",
    "AGENTS.md": `Start.\n\`@code.md\`\n\`\`\`\n@code.md\n\`\`\`\n@${outside}/secret.md @link.md @.env @.git/config @~/.ssh/id_rsa @image.png @docs`,
    "code.md": "canary",
    ".env": "KEY=canary",
    "image.png": "\0canary",
    "docs/a.md": "canary",
  });
  symlinkSync(join(outside, "secret.md"), join(project, "link.md"));
  expect(JSON.stringify(await readAgentsFiles(project)).match(/canary/g)).toBeNull();
});

test("Markdown of the person's own folder can be included, and nothing else of it", async () => {
  const user = temporaryFolder();
  plant(user, {
    "AGENTS.md": "Mine: @style.md",
    "style.md": "My style.",
    "settings.json": '{"key":"canary"}',
  });
  const texts = await textsOf({ "AGENTS.md": `@${user}/style.md @${user}/settings.json` }, user);
  expect(texts).toEqual(["Mine: @style.md", "My style.", expect.stringContaining("@")]);
});

test("depth, number and size of included files are limited", async () => {
  const chain = Object.fromEntries(
    Array.from({ length: 9 }, (_, index) => [`${index}.md`, `Level ${index}. @${index + 1}.md`]),
  );
  expect(await textsOf({ "AGENTS.md": "@0.md", ...chain })).toHaveLength(1 + 5);
  const many = Array.from({ length: 40 }, (_, index) => `f${index}.md`);
  const files = Object.fromEntries(many.map((name) => [name, `of ${name}`]));
  expect(await textsOf({ "AGENTS.md": many.map((name) => `@${name}`).join(" "), ...files })).toHaveLength(
    1 + 20,
  );
  const large = { "a.md": "a".repeat(40_000), "b.md": "b".repeat(40_000), "c.md": "c".repeat(40_000) };
  const texts = await textsOf({ "AGENTS.md": "@a.md @b.md @c.md", ...large });
  expect(texts.slice(1).map(({ length }) => length)).toEqual([32_768, 32_768]);
});
