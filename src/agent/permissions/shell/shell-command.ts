/** A word after the shell has removed its quotes. */
export interface ShellWord {
  readonly text: string;
  /** Whether the shell passes on exactly `text`, because nothing in it expands. */
  readonly literal: boolean;
}

/** A file that the shell itself opens for a command. */
export interface Redirection {
  readonly writes: boolean;
  readonly target: ShellWord;
}

/** One program or builtin with its words. Assignments before it are its first words. */
export interface SimpleCommand {
  readonly words: readonly ShellWord[];
  /** How many of the words are assignments. */
  readonly assignments: number;
}

/** A command in its parts, or the reason that it is not understood. */
export type ParsedShell =
  | {
      readonly ok: true;
      /** Every simple command, with those in substitutions, subshells and groups. */
      readonly commands: readonly SimpleCommand[];
      readonly redirections: readonly Redirection[];
      /** Whether a part of the command gets text in the command as its input. */
      readonly hasHereDocument: boolean;
    }
  | { readonly ok: false; readonly reason: string };

/** Ends the reading of a command that is not understood. */
export class NotUnderstood {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}
