import { isDeepStrictEqual } from "node:util";
import { isProblem, type Problem, problem } from "../../base/problems/problem.ts";
import { field, fieldsOf, isPlainObject } from "../../base/util/plain-object.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import { type ConfigEdit, type Format, type FormatName, refused } from "./formats/format.ts";

const FORMATS: Readonly<Record<FormatName, () => Promise<Format>>> = {
  json: async () => (await import("./formats/json-format.ts")).jsonFormat,
  toml: async () => (await import("./formats/toml-format.ts")).tomlFormat,
  yaml: async () => (await import("./formats/yaml-format.ts")).yamlFormat,
  text: async () => TEXT,
};

/** A text such as a client's instructions for its model. Its keys are its lines. */
const TEXT: Format = {
  empty: "",
  read: async (text) => {
    const lines = text.split(/\r?\n/).filter((line) => line !== "");
    return Object.fromEntries(lines.map((line) => [line, {}]));
  },
  edit: async (text, { remove, set }, eol) => {
    const kept = text.split(eol).filter((line) => !remove.includes(line));
    const added = Object.keys(set).filter((line) => !kept.includes(line));
    // A last line that is empty is the end of the file.
    const end = kept.at(-1) === "" ? [""] : [];
    return [...kept.slice(0, kept.length - end.length), ...added, ...end].join(eol);
  },
};

const BOM = "\uFEFF";

/** Parses a config.
 *
 * @throws CLIENT_CONFIG_INVALID or the error of a parser; {@link reasonWhy} reads both.
 */
export async function readConfig(name: FormatName, text: string): Promise<unknown> {
  const format = await FORMATS[name]();
  const plain = withoutBom(text);
  return format.read(plain.trim() === "" ? format.empty : plain);
}

/**
 * The text of a config with its servers changed. Keeps the byte order mark and the line endings.
 *
 * @throws CLIENT_CONFIG_INVALID if the text is written in a way that the change would break.
 */
export async function editConfig(
  file: { readonly path: string; readonly format: FormatName },
  text: string,
  edits: readonly ConfigEdit[],
): Promise<string> {
  const format = await FORMATS[file.format]();
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const given = withoutBom(text);
  let edited = given.trim() === "" ? format.empty.replaceAll("\n", eol) : given;
  try {
    let wanted = await format.read(edited);
    for (const edit of edits) {
      if (edit.remove.length === 0 && Object.keys(edit.set).length === 0) continue;
      wanted = withEdit(wanted, edit.at, edit);
      edited = await format.edit(edited, edit, eol);
    }
    if (!isDeepStrictEqual(plainOf(await format.read(edited)), plainOf(wanted)))
      throw refused("the way it is written leaves no room for a change");
  } catch (error) {
    throw unusable(file.path, error);
  }
  return text.startsWith(BOM) ? BOM + edited : edited;
}

/** The value that an edited text has to have. */
function withEdit(holder: unknown, [key, ...rest]: readonly string[], edit: ConfigEdit): unknown {
  if (key !== undefined) {
    const fields = isPlainObject(holder) ? holder : {};
    const value = withEdit(field(fields, key), rest, edit);
    return Object.fromEntries(new Map(Object.entries(fields)).set(key, value));
  }
  const { remove, set } = edit;
  if (!edit.isList) {
    const kept = Object.entries(isPlainObject(holder) ? holder : {}).filter(
      ([name]) => !remove.includes(name),
    );
    return Object.fromEntries(new Map([...kept, ...Object.entries(set)]));
  }
  const names = new Set([...remove, ...Object.keys(set)]);
  const kept = (Array.isArray(holder) ? holder : []).filter((one) => !names.has(String(field(one, "name"))));
  return [...kept, ...Object.entries(set).map(([name, value]) => ({ name, ...fieldsOf(value) }))];
}

/** Parsers may return objects without a prototype. */
export function plainOf(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_, part) => (typeof part === "bigint" ? String(part) : part)) ?? "null",
  );
}

function withoutBom(text: string): string {
  return text.startsWith(BOM) ? text.slice(1) : text;
}

export function unusable(path: string, error: unknown): Problem {
  const reason = reasonWhy(error);
  return problem("CLIENT_CONFIG_INVALID", { path, reason }, { reason });
}

/** The reason of an error without the sentence around it. */
export function reasonWhy(error: unknown): string {
  return isProblem(error) ? String(error.details.reason ?? error.message) : reasonOf(error);
}
