/** What a prompt's front matter says, completed from its text. */
export interface PromptFacts {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly version?: string;
  readonly arguments: readonly PromptArgument[];
  readonly category?: string;
  readonly tags: readonly string[];
  readonly estimatedTokens: number;
  readonly scopes: readonly string[];
}

export interface PromptArgument {
  readonly name: string;
  readonly description?: string;
  readonly required: boolean;
}

/** What a fragment's front matter says, completed from its text. */
export interface FragmentFacts {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly category: string;
  readonly tags: readonly string[];
  readonly capabilities: readonly string[];
  readonly useWhen: readonly string[];
  readonly estimatedTokens: number;
  readonly scopes: readonly string[];
  /** Ids, file names and paths of other fragments that it names. */
  readonly references: readonly string[];
}

export interface RuleFacts {
  /** Absent: concerns the whole domain. */
  readonly category?: string;
}

interface FileBase {
  /** From the library's directory down, with slashes. */
  readonly path: string;
  /** Size and time: while it is the same, the file is not read again. */
  readonly stamp: string;
  /** SHA-256 of the bytes. */
  readonly hash: string;
  readonly body: string;
}

export interface PromptFile extends FileBase {
  readonly kind: "prompt";
  readonly facts: PromptFacts;
}

export interface FragmentFile extends FileBase {
  readonly kind: "fragment";
  readonly facts: FragmentFacts;
}

export interface RuleFile extends FileBase {
  readonly kind: "rule";
  readonly facts: RuleFacts;
}

/** A Markdown file as it was when it was last good. Plain data, so that an index can keep it. */
export type LibraryFile = PromptFile | FragmentFile | RuleFile;
export type FileKind = LibraryFile["kind"];

/** By the folder at the top of the library. */
export const FOLDERS: Readonly<Record<string, FileKind>> = {
  prompts: "prompt",
  fragments: "fragment",
  resources: "fragment",
  rules: "rule",
};
