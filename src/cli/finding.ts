/** Something that is wrong, or will be, with its cause and its fix. */
export interface Finding {
  /** `problem`: it does not work. `warning`: it works, and should be looked at. */
  readonly level: "problem" | "warning";
  /** The file, server or client that it is about. */
  readonly about: string;
  readonly cause: string;
  /** A command, or a sentence about what to change. */
  readonly fix: string;
}

export function problemWith(about: string, cause: string, fix: string): Finding {
  return { level: "problem", about, cause, fix };
}

export function warningOf(about: string, cause: string, fix: string): Finding {
  return { level: "warning", about, cause, fix };
}
