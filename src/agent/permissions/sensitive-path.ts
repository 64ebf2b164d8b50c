import { BUILD_FILES, type PathNames, RUN_ALWAYS, SECRETS } from "./path-names.ts";

const IGNORED = /\p{Default_Ignorable_Code_Point}/gu;
const SYSTEM = ["/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/proc/", "/sys/", "/dev/", "/run/secrets"];

/** A repository's own settings, and those of its submodules: remote addresses may have logins in them. */
const GIT_CONFIG = /\/\.git\/(?:.*\/)?config(?:\.worktree)?$/;

/** Whether a path may hold keys or logins. Such paths ask before any use, whatever the rules allow. */
export function holdsSecrets(path: string, root: string): boolean {
  const folded = fold(path);
  if (GIT_CONFIG.test(folded) || SYSTEM.some((start) => folded.startsWith(start))) return true;
  // A folder of logins counts also above the project; names count only inside it.
  return (
    matches(SECRETS, insideOf(path, root)) || folded.split("/").some((part) => SECRETS.folders.has(part))
  );
}

/**
 * Whether programs run or obey what is written at a path without being told to. `always`: such a write asks
 * whatever the rules allow. `build`: only a rule that names the file itself allows it.
 */
export function runsLater(path: string, root: string): "always" | "build" | undefined {
  const parts = insideOf(path, root);
  if (matches(RUN_ALWAYS, parts)) return "always";
  return matches(BUILD_FILES, parts) ? "build" : undefined;
}

function matches(names: PathNames, parts: readonly string[]): boolean {
  if (parts.some((part) => names.folders.has(part))) return true;
  const path = `/${parts.join("/")}`;
  if (names.ends.some((end) => path.endsWith(`/${end}`) || path.includes(`/${end}/`))) return true;
  if (names.files.has(parts.at(-1) ?? "")) return true;
  return parts.some((part) => names.patterns.some((pattern) => pattern.test(part)));
}

/** The parts below the project's folder, which itself may have any name. */
function insideOf(path: string, root: string): string[] {
  return fold(path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path).split("/");
}

/** As a file system that folds case, composes accents and ignores invisible characters would read it. */
function fold(path: string): string {
  return path.normalize("NFKC").replace(IGNORED, "").toLowerCase();
}
