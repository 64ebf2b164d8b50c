import { basename, sep } from "node:path";
import { nearest } from "../../base/util/nearest.ts";
import { isPlainObject, mapTexts, type PlainObject } from "../../base/util/plain-object.ts";
import { invalid, type McpServerConfig, readServerConfig } from "../../sources/mcp/config/server-config.ts";
import type { Dialect } from "./client.ts";
import { reasonWhy } from "./edit-config.ts";

/** A server of a client. */
export interface FoundServer {
  readonly name: string;
  /** The server in the words of Keyhole's own config; undefined if Keyhole cannot run it. */
  readonly config?: McpServerConfig;
  /** Why Keyhole cannot run it. It stays with its client. */
  readonly stays?: string;
  /** Differences that the person should know. One sentence each. */
  readonly notes: readonly string[];
}

export interface Folders {
  readonly home: string;
  /** The folder of the project that a server belongs to; undefined for servers of the user. */
  readonly project?: string | undefined;
}

/** Reads one server as its client writes it. Undefined if it is part of the client and no server. */
export function readServer(
  name: string,
  entry: unknown,
  { fields: meanings, variables }: Dialect,
  folders: Folders,
): FoundServer | undefined {
  const notes: string[] = [];
  const staying = (reason: string) => ({ name, stays: reason, notes });
  if (!isPlainObject(entry)) return staying("it is not an object");
  const { own, missing } = toOwnFields(entry, meanings, (note) => notes.push(note));
  if (missing !== undefined) return staying(`Keyhole has no ${missing}`);
  if (own.builtin !== undefined) return undefined;
  try {
    const filled = mapTexts(own, (text) =>
      fillFolders(name, variables?.(text) ?? text, folders),
    ) as PlainObject;
    const { project } = folders;
    const isProcess = filled.command !== undefined && filled.cwd === undefined;
    const config = { ...filled, ...(isProcess && project !== undefined && { cwd: project }) };
    readServerConfig(name, config);
    return { name, config: config as McpServerConfig, notes };
  } catch (error) {
    return staying(reasonWhy(error));
  }
}

/** Translates the fields of a client into Keyhole's. `missing` names one that Keyhole has nothing for. */
export function toOwnFields(
  entry: PlainObject,
  meanings: Dialect["fields"],
  onNote: (note: string, key: string) => void,
): { readonly own: PlainObject; readonly missing?: string } {
  const own: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(entry)) {
    const meaning = Object.hasOwn(meanings, key) ? meanings[key]! : undefined;
    if (meaning === undefined) onNote(unknownField(key, Object.keys(meanings)), key);
    else if (meaning === "unknown") return { own, missing: key };
    else if (meaning === "lost") onNote(`${key} is not carried over.`, key);
    else if (meaning !== "ignored") add(own, "as" in meaning ? { [meaning.as]: value } : meaning.to(value));
  }
  return { own };
}

// Linear: the closing brace bounds each match.
const VARIABLE = /\$\{([^{}]*)\}/g;
const OWN_VARIABLE = /^(?:(?:env:)?[A-Za-z_]\w*(?::-.*)?|(?:secret|input|keychain):\w[\w.-]*)$/s;

/**
 * Fills in the variables of editors that name folders. Keyhole fills in the others when it starts the server.
 *
 * @throws SERVER_CONFIG_INVALID if nothing of Keyhole's stands for a variable.
 */
export function fillFolders(label: string, text: string, { home, project }: Folders): string {
  if (/\$\{\{|\{file:/.test(text)) throw invalid(label, "Keyhole cannot fill in the template of its client");
  return text.replace(VARIABLE, (whole, name: string) => {
    if (name === "userHome") return home;
    if (name === "pathSeparator" || name === "/") return sep;
    if (name === "workspaceFolder" || name === "workspaceFolderBasename") {
      if (project === undefined) throw invalid(label, `${whole} is another folder in every window`);
      return name === "workspaceFolder" ? project : basename(project);
    }
    if (OWN_VARIABLE.test(name)) return whole;
    throw invalid(label, `Keyhole cannot fill in ${whole}; write \${env:NAME} or \${secret:NAME}`);
  });
}

/** Two fields of a client may fill the same record. */
function add(own: Record<string, unknown>, fields: PlainObject): void {
  for (const [key, value] of Object.entries(fields)) {
    const before = own[key];
    own[key] = isPlainObject(before) && isPlainObject(value) ? { ...before, ...value } : value;
  }
}

function unknownField(key: string, known: readonly string[]): string {
  const [near] = nearest(key, known, 1);
  return `${key} is an unknown field${near === undefined ? "" : `; did you mean ${near}?`}`;
}
