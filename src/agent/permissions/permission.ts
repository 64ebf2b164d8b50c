import type { ParsedShell } from "./shell/shell-command.ts";

export const FILE_SCOPES = ["fs-read", "fs-write", "fs-delete"] as const;
export type FileScope = (typeof FILE_SCOPES)[number];
export const PERMISSION_SCOPES = [...FILE_SCOPES, "shell-run"] as const;
export type PermissionScope = (typeof PERMISSION_SCOPES)[number];

export interface FileRequest {
  readonly scope: FileScope;
  /** As it was given. */
  readonly given: string;
  /** Absolute, with every link followed. */
  readonly path: string;
}

export interface ShellRequest {
  readonly scope: "shell-run";
  readonly command: string;
  readonly parsed: ParsedShell;
  /** What its redirections open. */
  readonly files: readonly FileRequest[];
  /** Where its words would lead if they were paths: by command, then by word. */
  readonly mentions: readonly (readonly (readonly string[])[])[];
}

export type PermissionRequest = FileRequest | ShellRequest;

export interface Decision {
  readonly verdict: "allow" | "ask" | "deny";
  /** One sentence: which rule, or why there is none. */
  readonly reason: string;
}

/** Where a decision is made. */
export interface PermissionPlace {
  /** The project's folder, with every link followed. */
  readonly root: string;
  readonly home: string;
}
