import { existsSync } from "node:fs";
import { join } from "node:path";
import { field, fieldsOf, isPlainObject, listOf } from "../../base/util/plain-object.ts";
import type { ClientMachine, ClientSkills } from "./client.ts";

const AGENTS = ".agents/skills";

/** Claude Code lists no skill that its settings leave to the person, who can still type its name. */
export function claudeSkills(folderOf: (machine: ClientMachine) => string): ClientSkills {
  return {
    folders: [".claude/skills"],
    instructions: (machine) => join(folderOf(machine), "CLAUDE.md"),
    hiding: (machine) => ({ path: join(folderOf(machine), "settings.json"), format: "json" }),
    hide: (config, skills) => {
      const overrides = fieldsOf(field(config, "skillOverrides"));
      const shown = skills.filter(({ name }) => !Object.hasOwn(overrides, name));
      return {
        at: ["skillOverrides"],
        set: Object.fromEntries(shown.map(({ name }) => [name, "user-invocable-only"])),
      };
    },
  };
}

/** Codex lists no skill whose folder its config switches off. */
export function codexSkills(folderOf: (machine: ClientMachine) => string): ClientSkills {
  return {
    folders: [".codex/skills", AGENTS],
    instructions: (machine) => join(folderOf(machine), "AGENTS.md"),
    hiding: (machine) => ({ path: join(folderOf(machine), "config.toml"), format: "toml" }),
    hide: (config, skills) => {
      const present = listOf(field(field(config, "skills"), "config"));
      const named = present.map((one) => field(one, "path"));
      const off = skills.map(({ folder }) => ({ path: join(folder, "SKILL.md"), enabled: false }));
      return {
        at: ["skills"],
        set: { config: [...present, ...off.filter(({ path }) => !named.includes(path))] },
      };
    },
  };
}

export const GEMINI_SKILLS: ClientSkills = {
  folders: [".gemini/skills", AGENTS],
  instructions: ({ home }) => join(home, ".gemini", "GEMINI.md"),
  hiding: ({ home }) => ({ path: join(home, ".gemini", "settings.json"), format: "json" }),
  hide: (config, skills) => {
    const present = listOf(field(field(config, "skills"), "disabled"));
    const names = skills.map(({ name }) => name).filter((name) => !present.includes(name));
    return { at: ["skills"], set: { disabled: [...present, ...names] } };
  },
};

/** opencode lists no skill that its permissions deny. */
export function opencodeSkills(folderOf: (machine: ClientMachine) => string): ClientSkills {
  return {
    folders: [".config/opencode/skills", ".claude/skills", AGENTS],
    instructions: (machine) => join(folderOf(machine), "AGENTS.md"),
    hiding: (machine) => {
      const [plain, commented] = ["opencode.json", "opencode.jsonc"].map((name) =>
        join(folderOf(machine), name),
      );
      return { path: existsSync(commented!) ? commented! : plain!, format: "json" };
    },
    hide: (config, skills) => {
      const { permission = {} } = fieldsOf(config);
      const rules = field(permission, "skill") ?? {};
      if (!isPlainObject(permission) || !isPlainObject(rules)) return undefined;
      const shown = skills.filter(({ name }) => !Object.hasOwn(rules, name));
      return {
        at: ["permission", "skill"],
        set: Object.fromEntries(shown.map(({ name }) => [name, "deny"])),
      };
    },
  };
}
