/** The program or the address behind a server, as a person consents to it. Texts are as written in the config. */
export interface ServerProgram {
  readonly label: string;
  /** SHA-256 of all that `runs` holds. A person consents to exactly this. */
  readonly hash: string;
  /** SHA-256 without the variables, headers and logins. Approvals of definitions are bound to it. */
  readonly identity: string;
  readonly runs: ServerProcess | ServerAddress | ServerReading;
}

/** A server that runs as a child process. */
export interface ServerProcess {
  readonly command: string;
  /** The file that the command stands for; undefined if it is not found. */
  readonly path?: string;
  readonly args: readonly string[];
  /** The folder that it runs in. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The file with more variables. */
  readonly envFile?: string;
  /** The limits that the config sets; false if it asks for none. */
  readonly sandbox?: false | SandboxLimits;
  /** The image of the container that the command starts. */
  readonly container?: string;
}

/** Files that hold code: a server runs them and does not write them. */
export const CODE_FILE = /\.(?:[cm]?[jt]sx?|py|pyz|rb|php|jar|sh|lua|pl|wasm)$/i;

/** The limits that a person sets for the process of a server. */
export interface SandboxLimits {
  /** Folders and files that it may use beside its own folder. */
  readonly folders?: readonly string[] | undefined;
  /** The hosts that it reaches. */
  readonly network?: "all" | "none" | readonly string[] | undefined;
}

/** A server over HTTP. */
export interface ServerAddress {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** How Keyhole logs in there, if the config says so. */
  readonly oauth?: Readonly<Record<string, unknown>>;
  /** Set if each person has a login of their own: they log in, or their token is exchanged. Default: a shared login. */
  readonly login?: "person" | "exchange";
}

/** A server without a program of its own: Keyhole reads a folder, a document or another system. */
export interface ServerReading {
  /** The fields of its config that say what is read, each under its path. Paths of files are absolute. */
  readonly reads: Readonly<Record<string, string>>;
}
