import type { FileScope } from "./permission.ts";

// Folders of keys and logins, and of what decides what programs and this agent itself may do.
const FOLDERS = new Set([
  ".ssh",
  ".gnupg",
  ".aws",
  ".azure",
  ".kube",
  ".docker",
  ".password-store",
  ".keyhole",
  "keychains",
  "keyrings",
  ".mozilla",
  ".1password",
  "gcloud",
]);
const FILES = new Set([
  ".netrc",
  "_netrc",
  ".npmrc",
  ".pypirc",
  ".pgpass",
  ".git-credentials",
  ".htpasswd",
  ".my.cnf",
  ".vault-token",
  ".dockercfg",
  "login.keychain-db",
]);
const SYSTEM = ["/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/proc/", "/sys/", "/dev/", "/run/secrets"];
const ENDINGS = [".pem", ".key", ".p12", ".pfx", ".kdbx", ".jks", ".keystore", ".ppk", ".asc", ".gpg"];
const STARTS = [".env", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];
const PARTS = ["credential", "secret"];
/** Reading them is harmless; writing them makes code run later. */
const RUN_LATER_FOLDERS = new Set([".git", ".husky", ".vscode", ".idea", ".github"]);
const RUN_LATER_FILES = new Set([
  ".bashrc",
  ".bash_profile",
  ".profile",
  ".zshrc",
  ".zshenv",
  ".zprofile",
  ".gitconfig",
  ".gitmodules",
  ".envrc",
  ".mcp.json",
]);
const IGNORED = /\p{Default_Ignorable_Code_Point}/gu;

/** Whether a path holds keys or secrets, or decides what runs: such paths ask whatever the rules allow. */
export function isSensitivePath(path: string, root: string, scope: FileScope): boolean {
  const folded = fold(path);
  if (SYSTEM.some((start) => folded.startsWith(start))) return true;
  const segments = folded.split("/");
  if (segments.some((segment) => FOLDERS.has(segment))) return true;
  // The project's own folder may be called as it likes.
  const inside = path.startsWith(`${root}/`) ? fold(path.slice(root.length + 1)).split("/") : segments;
  if (inside.some(isSensitiveName)) return true;
  if (scope === "fs-read") return false;
  return inside.some((segment) => RUN_LATER_FOLDERS.has(segment) || RUN_LATER_FILES.has(segment));
}

function isSensitiveName(name: string): boolean {
  return (
    FILES.has(name) ||
    STARTS.some((start) => name.startsWith(start)) ||
    ENDINGS.some((ending) => name.endsWith(ending)) ||
    PARTS.some((part) => name.includes(part))
  );
}

/** As a file system that folds case, composes accents and ignores what cannot be seen would read it. */
function fold(path: string): string {
  return path.normalize("NFKC").replace(IGNORED, "").toLowerCase();
}
