import type { ParsedShell } from "./shell/shell-command.ts";

export const FILE_SCOPES = ["fs-read", "fs-write", "fs-delete"] as const;
/** The scopes of requests for one path. */
export type FileScope = (typeof FILE_SCOPES)[number];
export const PERMISSION_SCOPES = [...FILE_SCOPES, "shell-run"] as const;
/** The scopes of everything that an agent does on the machine. */
export type PermissionScope = (typeof PERMISSION_SCOPES)[number];

export const PERMISSION_MODES = ["ask", "accept-edits", "plan"] as const;
/**
 * How a person works with the agent: `ask` asks for everything that no rule decides; `accept-edits` lets it change
 * files of the project; `plan` lets it only read.
 */
export type PermissionMode = (typeof PERMISSION_MODES)[number];

/** A request to use one path. */
export interface FileRequest {
  readonly scope: FileScope;
  /** The path as the caller spelled it. */
  readonly given: string;
  /** The absolute path with every link followed. */
  readonly path: string;
}

/** A request to run one command. */
export interface ShellRequest {
  readonly scope: "shell-run";
  readonly command: string;
  readonly parsed: ParsedShell;
  /** The files that its redirections open. */
  readonly files: readonly FileRequest[];
  /** Paths that its words may name: by command, then by word. */
  readonly mentions: readonly (readonly (readonly string[])[])[];
}

/** Anything that {@link Decision} is about. */
export type PermissionRequest = FileRequest | ShellRequest;

/** The verdict of the rules. */
export interface Decision {
  readonly verdict: "allow" | "ask" | "deny";
  /** The rule that decides, or the reason that none does. */
  readonly reason: string;
}

/** The folders that rules are relative to. */
export interface PermissionPlace {
  /** The project's folder, with every link followed. */
  readonly root: string;
  readonly home: string;
}
