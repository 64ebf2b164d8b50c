import { expect, test } from "vitest";
import { leanImports } from "../scripts/lean-imports.ts";

const from = (module: string) => `=globalThis.process.getBuiltinModule("${module}")`;

test("names are read from the module itself", () => {
  const code = 'import{readFile as read,rm}from"node:fs/promises";x();';
  expect(leanImports(code)).toBe(`const {readFile:read,rm}${from("node:fs/promises")};x();`);
});

test("all forms of an import are replaced", () => {
  const code =
    'import fs,{rm}from"node:fs";import*as os from"node:os";import{default as path}from"node:path";x();';
  const declared = [`fs${from("node:fs")},{rm}${from("node:fs")}`, `os${from("node:os")}`];
  expect(leanImports(code)).toBe(`const ${declared.join(";const ")};const path${from("node:path")};x();`);
});

test("imports of files and of requests stay, before everything else", () => {
  const kept = 'import{a}from"./a.js";import{request}from"node:https";';
  expect(leanImports(`#!/usr/bin/env node\nimport{b}from"node:os";${kept}x();`)).toBe(
    `#!/usr/bin/env node\n${kept}const {b}${from("node:os")};x();`,
  );
});

test("text that looks like an import stays", () => {
  const code = "const text='import{a}from\"node:fs\";';";
  expect(leanImports(code)).toBe(code);
});
