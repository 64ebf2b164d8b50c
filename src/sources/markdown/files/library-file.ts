/** Facts of a prompt: its front matter, completed from its text. */
export interface PromptFields {
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

/** Facts of a fragment: its front matter, completed from its text. */
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
  /** Names of other fragments in its text: ids, file names, paths and URIs. */
  readonly references: readonly string[];
}

/** A fragment as matching sees it. */
export interface Fragment extends FragmentFacts {
  readonly route: string;
  /** The address that answers show: the library's own URI, or the route. */
  readonly address: string;
  /** The folder below `fragments/`, or an empty text. */
  readonly folder: string;
  readonly body: string;
}

/** A fragment that a query matches, with a score of 1 to 100. */
export interface FragmentMatch {
  readonly fragment: Fragment;
  readonly score: number;
}

export interface RuleFacts {
  /** Without a category the rules concern the whole domain. */
  readonly category?: string;
}

interface FileBase {
  /** Path from the library's directory, with slashes. */
  readonly path: string;
  /** Size and time. While it is the same, the file is not read again. */
  readonly stamp: string;
  /** SHA-256 of the bytes. */
  readonly hash: string;
  readonly body: string;
}

export interface LibraryPrompt extends FileBase {
  readonly kind: "prompt";
  readonly facts: PromptFields;
}

export interface FragmentFile extends FileBase {
  readonly kind: "fragment";
  readonly facts: FragmentFacts;
}

export interface RuleFile extends FileBase {
  readonly kind: "rule";
  readonly facts: RuleFacts;
}

/** The last good content of a Markdown file. Plain data, so that an index can keep it. */
export type LibraryFile = LibraryPrompt | FragmentFile | RuleFile;
export type FileKind = LibraryFile["kind"];

/** Kinds of files by the top folder of the library. */
export const FOLDERS: Readonly<Record<string, FileKind>> = {
  prompts: "prompt",
  fragments: "fragment",
  resources: "fragment",
  rules: "rule",
};
