/** The program or address behind a server, as a person consents to it. Texts are as written in the config. */
export interface ServerProgram {
  readonly label: string;
  /** SHA-256 of everything in `runs`. A person consents to exactly this. */
  readonly hash: string;
  /** SHA-256 without variables, headers and logins. Approvals of definitions are bound to it. */
  readonly identity: string;
  readonly runs: ServerProcess | ServerAddress | ServerReading;
}

/** A server that is a child process. */
export interface ServerProcess {
  readonly command: string;
  /** The file behind the command; undefined if it is not found. */
  readonly path?: string;
  readonly args: readonly string[];
  /** Working directory. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** File with more variables. */
  readonly envFile?: string;
  /** Limits in the config; false if it turns them off. */
  readonly sandbox?: false | SandboxLimits;
  /** Image of the container that the command starts. */
  readonly container?: string;
}

/** Files that hold code: a server runs them and does not write them. */
export const CODE_FILE = /\.(?:[cm]?[jt]sx?|py|pyz|rb|php|jar|sh|lua|pl|wasm)$/i;

/** Files that programs write whole: a server in the sandbox can replace one though its folder is closed. */
export const TEXT_FILE = /\.(?:jsonl?|ndjson|md|txt|ya?ml|toml|csv)$/i;

/** A person's limits for the process of a server. */
export interface SandboxLimits {
  /** Usable folders and files, besides its own folder. */
  readonly folders?: readonly string[] | undefined;
  /** Reachable hosts. */
  readonly network?: "all" | "none" | readonly string[] | undefined;
}

/** A server over HTTP. */
export interface ServerAddress {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** How Keyhole logs in, if configured. */
  readonly oauth?: Readonly<Record<string, unknown>>;
  /** Set if each person has a separate login: by logging in, or by token exchange. Default: one shared login. */
  readonly login?: "person" | "exchange";
}

/** A server without its own program: Keyhole reads a folder, a document or another system. */
export interface ServerReading {
  /** The config fields that say what is read, each under its path. File paths are absolute. */
  readonly reads: Readonly<Record<string, string>>;
}
