import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { verifies } from "../../../test/claims.ts";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { readSettingsFile } from "./read-settings-file.ts";
import { saveSetting } from "./save-setting.ts";

async function saved(before: string, path: string, value: string | number | boolean | string[]) {
  const file = join(temporaryFolder(), "settings.json");
  writeFileSync(file, before);
  await saveSetting(path, value, { file });
  return readFileSync(file, "utf8");
}

verifies("settings:save", "comments and the rest of the file stay as they are", async () => {
  const before = `// mine
{
  "providers": {
    "default": "openai", // for now
    /* keys */ "openai": { "apiKey": "k" } // last
  },
}
`;
  expect(await saved(before, "providers.default", "local")).toBe(before.replace('"openai",', '"local",'));
  expect(await saved(before, "agent.maxSteps", 3)).toBe(
    before.replace("  },\n}", `  },\n  "agent": {\n    "maxSteps": 3\n  },\n}`),
  );
  const added = await saved(before, "providers.local.model", "m");
  expect(added).toContain('"local": {\n      "model": "m"\n    } // last\n  },\n}');
  for (const comment of ["// mine", "// for now", "/* keys */"]) expect(added).toContain(comment);
});

test("a byte order mark, CRLF, tabs and trailing commas are kept", async () => {
  const before = '\uFEFF{\r\n\t"agent": {\r\n\t\t"maxSteps": 1, // few\r\n\t},\r\n}\r\n';
  expect(await saved(before, "agent.maxSteps", 3)).toBe(before.replace("1,", "3,"));
  const added = '3,\r\n\t\t"maxTokens": 9, // few';
  expect(await saved(before, "agent.maxTokens", 9)).toBe(
    before.replace("1, // few", added.replace("3", "1")),
  );
});

test("a missing file is created, readable by its owner only", async () => {
  const file = join(temporaryFolder(), "deep", ".keyhole", "settings.json");
  await saveSetting("providers.default", "gemini", { file });
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ providers: { default: "gemini" } });
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("an invalid value, an invalid key and a wrong file are refused without a change", async () => {
  const file = join(temporaryFolder(), "settings.json");
  writeFileSync(file, "{}");
  await expect(saveSetting("providers.default", "nobody", { file })).rejects.toMatchObject({
    code: "FILE_INVALID",
  });
  await expect(saveSetting("__proto__.x", 1, { file })).rejects.toMatchObject({ code: "FILE_INVALID" });
  expect(readFileSync(file, "utf8")).toBe("{}");
  writeFileSync(file, "{ wrong");
  await expect(saveSetting("agent.maxSteps", 1, { file })).rejects.toMatchObject({ code: "FILE_INVALID" });
  expect(readFileSync(file, "utf8")).toBe("{ wrong");
});

test("concurrent saves are all kept", async () => {
  const file = join(temporaryFolder(), "settings.json");
  await Promise.all([
    saveSetting("agent.maxSteps", 1, { file }),
    saveSetting("agent.maxTokens", 2, { file }),
    saveSetting("retry.enabled", false, { file }),
  ]);
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
    agent: { maxSteps: 1, maxTokens: 2 },
    retry: { enabled: false },
  });
});

test("in a file of any layout the value is read back and nothing else changes", async () => {
  const file = join(temporaryFolder(), "settings.json");
  const space = fc.constantFrom("", " ", "\n", "\r\n", " // c\n", " /* , } */ ", "\n  /* a\n b */");
  const spaces = fc.array(space, { minLength: 12, maxLength: 12 });
  const target = fc.constantFrom(["agent.maxSteps", 5], ["skills.disabled", ["a"]], ["retry.enabled", false]);
  await fc.assert(
    fc.asyncProperty(spaces, fc.boolean(), fc.boolean(), target, async (s, comma, full, [path, value]) => {
      const agent = full ? `"maxSteps"${s[0]}:${s[1]}1${s[2]}${comma ? "," : ""}${s[3]}` : s[3];
      const text = `${s[4]}{${s[5]}"agent"${s[6]}:${s[7]}{${s[8]}${agent}}${s[9]}${comma ? "," : ""}${s[10]}}${s[11]}`;
      writeFileSync(file, text);
      const before = await readSettingsFile(file);
      if (before.state !== "read") return;
      await saveSetting(path as string, value as number, { file });
      const after = await readSettingsFile(file);
      const [section, key] = (path as string).split(".") as [string, string];
      expect(after).toMatchObject({ state: "read", value: { [section]: { [key]: value } } });
      const comments = (content: string) => content.match(/\/\/ c|\/\*[\s\S]*?\*\//g)?.length ?? 0;
      if (!full || section !== "agent") expect(comments(readFileSync(file, "utf8"))).toBe(comments(text));
    }),
    { numRuns: 300 },
  );
});
