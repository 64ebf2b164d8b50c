import type { Program } from "../src/clients/client.ts";
import type { ScriptedCall } from "../src/testing/model-wire/scripted-exchange.ts";

/** A scenario of the lab: one headless conversation of a client with a scripted model. */
export type ScenarioName = "tour" | "hung" | "silent";

/** A folder of its own, an address of the model and a prompt, from which a client is started. */
export interface Setup {
  readonly home: string;
  readonly project: string;
  /** The folder into which the client is installed. */
  readonly installed: string;
  /** Base URL of the scripted model, without a path. */
  readonly model: string;
  readonly prompt: string;
}

/** How a client is started: the files that it reads, its arguments and variables. */
export interface Launch {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Paths are absolute, or begin in the home folder. */
  readonly files?: Readonly<Record<string, string>>;
}

/** An MCP client that the lab runs. A new client is a file in `clients/` and a row of `CLIENTS`. */
export interface LabClient {
  /** The name that `keyhole connect` has for it, if it has one. */
  readonly name: string;
  readonly title: string;
  /** Packages of npm with exact versions, the client itself first. */
  readonly packages: Readonly<Record<string, string>>;
  /** The program among the installed ones. */
  readonly bin: string;
  /** `gate`: run by every check. `named`: run by name. `others`: run by `--others`, too. */
  readonly group: "gate" | "named" | "others";
  launch(setup: Setup): Launch;
  /** Which of the client's configs `keyhole connect` would write. Default: the first. */
  readonly place?: number;
  /** Writes Keyhole's entry. Default: the entry that `keyhole connect` writes. */
  entryFile?(program: Program, setup: Setup): { readonly path: string; readonly text: string };
  /** A client that shows tools only after a search of its own: the calls that make the model see them. */
  readonly reveal?: readonly ScriptedCall[];
  /** Why the client cannot run without a network. */
  readonly cannotRun?: string;
  /** A sentence or two for people who connect the client. */
  readonly advice: readonly string[];
}
