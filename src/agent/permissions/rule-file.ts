import { mkdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { problem } from "../../schema/problem.ts";
import { parseJsonc } from "../../util/parse-jsonc.ts";
import { writeFileAtomic } from "../../util/write-file-atomic.ts";
import { type PermissionRules, readRules } from "./permission-rules.ts";
import type { RuleStore } from "./permissions.ts";

/** A file of permission rules: one object with the lists `allow`, `ask` and `deny`. It may have comments. */
export interface RuleFile extends RuleStore {
  /**
   * The rules in the file; none if it does not exist.
   * @throws `PERMISSIONS_INVALID`
   */
  read(): Promise<PermissionRules>;
}

/** Opens a file of permission rules, which need not exist yet. A {@link RuleStore} for `createPermissions`. */
export function createRuleFile(path: string, owner: "project" | "user"): RuleFile {
  let turn: Promise<unknown> = Promise.resolve();

  async function text(): Promise<string> {
    try {
      return await readFile(path, "utf8");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return "{}";
      throw error;
    }
  }

  async function read(): Promise<PermissionRules> {
    const parsed = await parseJsonc(await text());
    if (!parsed.ok) {
      throw problem("PERMISSIONS_INVALID", {
        owner,
        reason: `${path}:${parsed.position.line}: ${parsed.reason}`,
      });
    }
    readRules(owner, parsed.value);
    return parsed.value as PermissionRules;
  }

  async function add(rules: readonly string[]): Promise<void> {
    const current = await read();
    if (!isPlainJson(await text())) {
      // Writing the file would lose its comments.
      throw problem("PERMISSIONS_INVALID", {
        owner,
        reason: `${path} has comments, so rules are added by hand`,
      });
    }
    const allow = [...new Set([...(current.allow ?? []), ...rules])];
    await mkdir(dirname(path), { recursive: true });
    await writeFileAtomic(path, `${JSON.stringify({ ...current, allow }, undefined, 2)}\n`, 0o600);
  }

  return {
    read,
    allow(rules) {
      const added = turn.then(() => add(rules));
      turn = added.catch(() => {});
      return added;
    },
  };
}

function isPlainJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
