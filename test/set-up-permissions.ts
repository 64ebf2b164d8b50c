import { mkdirSync } from "node:fs";
import { join } from "node:path";
import {
  createPermissions,
  type PermissionAnswer,
  type PermissionQuestion,
  type PermissionsOptions,
} from "../src/agent/permissions/permissions.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** Permissions of a new project, with the questions that were asked and the rules that were stored. */
export function setUpPermissions(options: Partial<PermissionsOptions> = {}, answer?: PermissionAnswer) {
  const folder = temporaryFolder();
  const root = join(folder, "project");
  const home = join(folder, "home");
  for (const each of [root, home, join(root, "src"), join(home, ".ssh")]) mkdirSync(each);
  const asked: PermissionQuestion[] = [];
  const stored: string[] = [];
  const permissions = createPermissions({
    root,
    home,
    store: { allow: async (rules) => void stored.push(...rules) },
    ...(answer && {
      ask: async (question) => {
        asked.push(question);
        return answer;
      },
    }),
    ...options,
  });
  return { permissions, root: permissions.root, home, folder, asked, stored };
}
