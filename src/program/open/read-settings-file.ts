import { readFile, stat } from "node:fs/promises";
import type { z } from "zod";
import { fieldPath } from "../../base/json-schema/field-path.ts";
import { issueReason, keysAt, UNCOMPILED, unknownKey } from "../../base/json-schema/zod-mistakes.ts";
import { type Problem, problem } from "../../base/problems/problem.ts";
import { nearest } from "../../base/util/nearest.ts";
import { isPlainObject } from "../../base/util/plain-object.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import { type ParsedJsonc, type Position, parseJsonc } from "../clients/formats/parse-jsonc.ts";
import { type SettingsFile, settingsFileSchema } from "./settings-schema.ts";

export type ReadSettings =
  | { readonly state: "missing" }
  | {
      readonly state: "read";
      readonly value: SettingsFile;
      /** The value as it stands in the file, with its servers under the name that they have there. */
      readonly written: SettingsFile;
      positionOf(path: readonly string[]): Promise<Position>;
    }
  | {
      readonly state: "wrong";
      readonly problems: readonly Problem[];
      /** The names of its sections; none if it is not even JSON. */
      readonly sections: readonly string[];
    };

const MAX_ISSUES = 20;

/**
 * Reads one settings file. Any mistake makes the whole file wrong, except in one of its servers. Problems never repeat
 * values.
 */
export async function readSettingsFile(
  file: string,
  /** `isForeign`: the file may be that of another program, whose sections mean nothing here. */
  { isForeign = false } = {},
): Promise<ReadSettings> {
  const wrong = (reason: string, position = { line: 1, column: 1 }): ReadSettings => ({
    state: "wrong",
    problems: [wrongAt(file, position, reason)],
    sections: [],
  });
  let text: string;
  try {
    if (!(await stat(file)).isFile()) return wrong("it is not a regular file");
    text = await readFile(file, "utf8");
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? { state: "missing" } : wrong(reasonOf(error));
  }
  const parsed = await parseJsonc(text.trim() === "" ? "{}" : text);
  if (!parsed.ok) return wrong(parsed.reason, parsed.position);
  const checked = settingsFileSchema.safeParse(
    isForeign ? ownSections(parsed.value) : parsed.value,
    UNCOMPILED,
  );
  if (checked.success)
    return {
      state: "read",
      value: withServers(checked.data),
      written: checked.data,
      positionOf: parsed.positionOf,
    };
  const problems = checked.error.issues.slice(0, MAX_ISSUES).map((issue) => toProblems(file, parsed, issue));
  const sections = isPlainObject(parsed.value) ? Object.keys(parsed.value) : [];
  return { state: "wrong", problems: (await Promise.all(problems)).flat(), sections };
}

/** Both names of the servers mean the same. */
function withServers({ servers, ...value }: SettingsFile): SettingsFile {
  return servers === undefined ? value : { ...value, mcpServers: { ...servers, ...value.mcpServers } };
}

async function toProblems(
  file: string,
  { positionOf }: Extract<ParsedJsonc, { ok: true }>,
  issue: z.core.$ZodIssue,
): Promise<Problem[]> {
  const path = issue.path.map(String);
  if (issue.code !== "unrecognized_keys") {
    const where = path.length === 0 ? "the file" : fieldPath(issue.path);
    return [wrongAt(file, await positionOf(path), `${where} ${issueReason(issue)}`)];
  }
  const keys = keysAt(settingsFileSchema, path);
  const problems = issue.keys.slice(0, MAX_ISSUES).map(async (key) => {
    const position = await positionOf([...path, key]);
    return wrongAt(file, position, `${fieldPath([...path, key])} ${unknownKey(key, keys)}`);
  });
  return Promise.all(problems);
}

/** The sections of another program's file that are also Keyhole's. A misspelt one stays, so that it is reported. */
function ownSections(value: unknown): unknown {
  if (!isPlainObject(value)) return value;
  const known = keysAt(settingsFileSchema, []);
  return Object.fromEntries(
    Object.entries(value).filter(
      ([key, part]) => known.includes(key) || (isPlainObject(part) && findSlip([key], known) !== undefined),
    ),
  );
}

function wrongAt(file: string, { line, column }: Position, reason: string): Problem {
  return problem("FILE_INVALID", { file, line, column, reason }, { file, line, column });
}

/** Finds an unknown key that is probably a misspelt known one. */
export function findSlip(
  keys: readonly string[],
  known: readonly string[],
): { readonly given: string; readonly meant: string } | undefined {
  for (const given of keys) {
    const [meant] = known.includes(given) ? [] : nearest(given, known, 1);
    if (meant !== undefined) return { given, meant };
  }
  return undefined;
}
