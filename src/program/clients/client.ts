import { isAbsolute } from "node:path";
import type { PlainObject } from "../../base/util/plain-object.ts";
import type { ListingWay } from "../../gateway/tool-tokens.ts";
import type { ConfigEdit, FormatName } from "./formats/format.ts";

/** The computer of a person, as far as it decides where clients keep their configs. */
export interface ClientMachine {
  readonly home: string;
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder that the person works in. */
  readonly project: string;
}

/** A file of a client, and the path in it that leads to the servers. */
export interface ConfigLocation {
  /** Servers of the user are there in every folder; those of a project only in its folder. */
  readonly scope: "user" | "project";
  readonly path: string;
  readonly format: FormatName;
  /** `*` stands for every key; such a key is the folder of a project. */
  readonly at: readonly string[];
  /** The profile of the program that reads the file. Default: the client's name. */
  readonly profile?: string;
}

/** An MCP client: where its servers stand, and how. A new client is a new row of `CLIENTS`. */
export interface Client {
  readonly name: string;
  readonly title: string;
  /** Its configs, those in use or not. The first is created if the client has none. */
  places(machine: ClientMachine): readonly ConfigLocation[];
  readonly dialect: Dialect;
  /** Whether another part of the config switches a server off. */
  isOff?(config: unknown, name: string): boolean;
  /** The rules of the client about tools, beside those in the entries of its servers. */
  readonly rules?: ClientRules;
  /** The places of the client's skills and of its instructions for its model. */
  readonly skills?: ClientSkills;
  /**
   * How Keyhole's entry asks for variables, of a client that does not pass its whole environment on to servers. `none`:
   * it passes none of the person's.
   */
  readonly variables?: "none" | ((names: readonly string[]) => PlainObject);
  /** Keyhole's entry, as the client wants it. */
  entry(program: Program): PlainObject;
  /** The fields of the entry that keep a server's tools out of the client's own search. */
  readonly loaded?: PlainObject;
  /** How it lists the tools of its servers, by model if that differs. Absent: nobody has measured it or written it down. */
  readonly lists?: readonly ClientListing[];
}

/** The skills of a client, and its way to keep single ones from its model. */
export interface ClientSkills {
  /** The folders of the user's skills that it reads, in the home folder. */
  readonly folders: readonly string[];
  /** The file with the user's instructions for its model. */
  instructions(machine: ClientMachine): string;
  /** Its file that hides skills. Absent: no way to hide one is known. */
  hiding?(machine: ClientMachine): Pick<ConfigLocation, "path" | "format">;
  /** Hides skills from its model, in the file above. Undefined if the file leaves no room for that. */
  hide?(config: unknown, skills: readonly HiddenSkill[]): Omit<ConfigEdit, "remove"> | undefined;
}

export interface HiddenSkill {
  readonly name: string;
  /** The folder of the skill. */
  readonly folder: string;
}

/** How a client denies, asks about and allows calls of tools. */
export interface ClientRules {
  /** The files with rules, the first to count first. */
  files(machine: ClientMachine): readonly ClientRuleFile[];
  read(config: unknown): readonly ClientRule[];
  /** The beginnings of the client's names for the tools of a server. */
  prefixes(server: string): readonly string[];
  /** Whether the last rule that fits counts. Otherwise the strictest does. */
  readonly lastCounts?: boolean;
}

export type ClientRuleFile = Pick<ConfigLocation, "scope" | "path" | "format">;

export interface ClientRule {
  /** The client's names of tools, or patterns of them with `*` and `?`. */
  readonly names: readonly string[];
  readonly does: "deny" | "ask" | "allow";
  /** The rule as a person finds it in the file. */
  readonly as: string;
  /** Why Keyhole cannot keep the rule. */
  readonly but?: string;
}

/** How a client lists its tools, and what follows. */
export interface ClientListing extends ListingWay {
  /** The models that get their tools this way, if others get them in another way. */
  readonly when?: string;
  /** How many definitions one search of the client loads. */
  readonly loads?: number;
}

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
}

/** How a client writes a server. */
export interface Dialect {
  /** Every field that the client knows. */
  readonly fields: Readonly<Record<string, Meaning>>;
  /** Whether the servers are a list of objects with a `name`, not an object. */
  readonly isList?: boolean;
  /** Rewrites the variables of a text into Keyhole's `${NAME}`. */
  variables?(text: string): string;
}

/**
 * The meaning of a client's field: the name of Keyhole's field, or a function to Keyhole's fields. `ignored` fields
 * change nothing for Keyhole. Those that are `lost` are reported. A server that needs an `unknown` one stays where it is.
 */
export type Meaning =
  | { readonly as: string }
  | { readonly to: (value: unknown) => PlainObject }
  | "ignored"
  | "lost"
  | "unknown";

/** A relative path would be another folder in every project, whose files are not the person's own. */
export function folderOf(variable: string | undefined, otherwise: string): string {
  return variable && isAbsolute(variable) ? variable : otherwise;
}
