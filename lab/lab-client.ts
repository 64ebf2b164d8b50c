import type { PlainObject } from "../src/base/util/plain-object.ts";
import type { Program } from "../src/program/clients/client.ts";
import type { ScriptedCall } from "../src/testing/model-wire/scripted-exchange.ts";
import type { Outcome } from "./tour/outcomes.ts";

/** A scenario of the lab: one conversation of a client with a scripted model, headless or with a person. */
export const SCENARIOS = ["tour", "hung", "silent", "person"] as const;
export type ScenarioName = (typeof SCENARIOS)[number];

/** Programs and addresses that serve MCP, by their names in a client's config. */
export type LabServers = Readonly<Record<string, LabProgram | { readonly url: string }>>;
export type LabPrograms = Readonly<Record<string, LabProgram>>;

export interface LabProgram extends Program {
  readonly env?: Readonly<Record<string, string>> | undefined;
}

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

/** How a person uses a client in a terminal. Keys have tmux's names. */
export interface Person {
  /** Without a prompt, which the person types. */
  launch(setup: Setup): Launch;
  /** Screens of the client itself that come before, with the keys that pass them. */
  readonly screens?: readonly { readonly sees: string; readonly press: readonly string[] }[];
  /** The screen at which the client takes the prompt. Default: it has listed the tools. */
  readonly ready?: string;
  /** Keys that accept and decline the form of a server. */
  readonly accept: readonly string[];
  readonly decline: readonly string[];
}

/** How a model gets at the tools of servers that a client hides. */
export interface ClientSearch {
  /** A search for all of these at once, or one by one if the client takes only words. */
  call(needs: readonly Outcome[]): ScriptedCall;
  /** A search with these words. Absent: `--searches` leaves the client out. */
  words?(query: string): ScriptedCall;
  /** Variables without which the client hides nothing. */
  variables?(setup: Setup): Readonly<Record<string, string>>;
  /** The name by which a found tool is called that is not among the tools of a request. */
  name?(server: string, tool: string): string;
  /** Calls a found tool. Default: by its name. */
  through?(name: string, args: ScriptedCall["args"]): ScriptedCall;
  /** Nothing in a request names the hidden tools. */
  readonly isBlind?: true;
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
  /** Absent for a client that shows no forms. */
  readonly person?: Person;
  /** Which of the client's configs `keyhole connect` would write. Default: the first. */
  readonly place?: number;
  /** Writes servers, for a client that `keyhole connect` does not know. */
  entryFile?(servers: LabPrograms, setup: Setup): { readonly path: string; readonly text: string };
  /** A server as the client's config has it, with leave to call it unasked. Default: command, args and env. */
  entry?(server: LabProgram, name: string): PlainObject;
  /** The same for a server at an address. Default: the address alone. */
  remote?(url: string): PlainObject;
  /** Whether `entry` or `allowing` denies the tool `DENIED` of the filesystem server. */
  readonly denies?: true;
  /** Files that let the client call these servers unasked. */
  allowing?(servers: readonly string[]): Readonly<Record<string, string>>;
  /** The client's own search for the tools that it hides. */
  readonly search?: ClientSearch;
  /** Gives a task to a sub-agent. */
  subAgent?(task: string): ScriptedCall;
  /** The client names tools without their server. */
  readonly hasBareNames?: true;
  /** A client that shows tools only after a search of its own: the calls that make the model see them. */
  readonly reveal?: readonly ScriptedCall[];
  /** Why the client cannot run without a network. */
  readonly cannotRun?: string;
  /** A sentence or two for people who connect the client. */
  readonly advice: readonly string[];
}
