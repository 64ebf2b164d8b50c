// The tools that single steps need have folders and lock files of their own, beside the project's install.
import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { installTool } from "../scripts/tool.ts";

interface Lock {
  readonly packages: Readonly<Record<string, { readonly integrity?: string; readonly resolved?: string }>>;
}

const LOCKS = ["package-lock.json", ...globSync("tools/*/package-lock.json")];

test.each(LOCKS)("%s has the hash of every package and no address", (file) => {
  const { packages } = JSON.parse(readFileSync(file, "utf8")) as Lock;
  const { "": _, ...others } = packages;
  expect(Object.keys(others)).not.toEqual([]);
  const wrong = Object.entries(others).filter(([, { integrity, resolved }]) => !integrity || resolved);
  expect(wrong.map(([path]) => path)).toEqual([]);
});

test.each(globSync("tools/*/package.json"))("%s pins its versions and says its purpose", (file) => {
  const manifest = JSON.parse(readFileSync(file, "utf8"));
  expect(manifest).toMatchObject({ private: true, description: expect.stringMatching(/\.$/) });
  for (const version of Object.values(manifest.devDependencies)) expect(version).toMatch(/^\d+\.\d+\.\d+/);
});

test("a tool that is installed as its lock file says is used without npm", () => {
  const PATH = process.env.PATH;
  const folder = installTool("tokenizer");
  try {
    process.env.PATH = "";
    expect(installTool("tokenizer")).toBe(folder);
  } finally {
    process.env.PATH = PATH;
  }
});
