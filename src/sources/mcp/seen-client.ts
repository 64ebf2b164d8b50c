import { existsSync, statSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { problem } from "../../base/problems/problem.ts";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import { isPlainObject, type PlainObject } from "../../base/util/plain-object.ts";
import type { CallingClient, ClientRoot } from "../../core/nouns/entry.ts";
import type { StdioConfig } from "./config/server-config.ts";

/** Client capabilities that answer a server's requests. */
const ANSWERS = ["elicitation", "sampling", "roots"] as const;
type ClientAnswer = (typeof ANSWERS)[number];

/** Facts about clients that a server asked for or depends on. Clients that differ in one get separate processes. */
export type AskedFact = ClientAnswer | "folder";

/** The clients behind one process of a server, as the server sees them. */
export interface SeenClient {
  /** Requests of the server that they cannot answer. */
  readonly lacks: readonly ClientAnswer[];
  readonly folder?: string | undefined;
  /** Changes with the roots of the only client of the process. */
  roots?: readonly ClientRoot[] | undefined;
}

/** A server, for the text of its questions. */
export interface Asking {
  readonly label: string;
  readonly trusted: boolean;
}

/** A running call and its client. */
interface AskableCall {
  readonly caller?: CallingClient | undefined;
  readonly asking?: Asking | undefined;
}

/** The capabilities declared to a server. Until it has asked for one, all clients count as having it. */
export function capabilitiesOf({ lacks }: SeenClient = { lacks: [] }) {
  const all = { elicitation: { form: {} }, sampling: {}, roots: { listChanged: true } };
  return Object.fromEntries(Object.entries(all).filter(([name]) => !lacks.includes(name as ClientAnswer)));
}

/** Answers requests of a server with the client of the running call. */
export function answerServer(
  client: Client,
  running: ReadonlySet<unknown>,
  { seen, onAsked }: { readonly seen?: SeenClient | undefined; onAsked(fact: AskedFact): void },
): void {
  const declared = capabilitiesOf(seen);
  const pass = async (name: ClientAnswer, method: string, params: PlainObject) => {
    onAsked(name);
    const { caller, asking } = onlyCall(running as ReadonlySet<AskableCall>);
    if (!caller?.request || !asking || !canAnswer(caller, name))
      throw refusal(`The client of this call does not support ${name}.`);
    const request = toClientRequest({ method, params }, asking);
    return (await caller.request(method, request.params ?? {})) as never;
  };
  if ("elicitation" in declared)
    client.setRequestHandler("elicitation/create", ({ method, params }) =>
      pass("elicitation", method, params),
    );
  if ("sampling" in declared)
    client.setRequestHandler("sampling/createMessage", ({ method, params }) =>
      pass("sampling", method, params),
    );
  if ("roots" in declared)
    client.setRequestHandler("roots/list", () => {
      onAsked("roots");
      return { roots: [...(seen?.roots ?? [])] };
    });
}

/** A request names no call, so all running calls must belong to one client. */
function onlyCall(running: ReadonlySet<AskableCall>): AskableCall {
  const calls = [...running].filter(({ caller }) => caller);
  const clients = new Set(calls.map(({ caller }) => caller?.connection ?? caller));
  if (clients.size > 1) throw refusal("Several clients call at once. Call again when the others are done.");
  return calls.at(-1) ?? {};
}

/** JSON-RPC code for an unknown method. */
const METHOD_NOT_FOUND = -32_601;

function refusal(reason: string): Error {
  return Object.assign(new Error(reason), { code: METHOD_NOT_FOUND });
}

function canAnswer({ capabilities, request }: CallingClient, name: ClientAnswer): boolean {
  if (!request) return false;
  return name === "elicitation" ? takesForms(capabilities) : capabilities[name] !== undefined;
}

/** Clients without a mode are older than modes and accept forms. */
export function takesForms({ elicitation }: CallingClient["capabilities"]): boolean {
  return isPlainObject(elicitation) && ("form" in elicitation || !("url" in elicitation));
}

/** Whether a client shows an address to its person and opens it if they agree. */
export function canOpenPages({ elicitation }: CallingClient["capabilities"]): boolean {
  return isPlainObject(elicitation) && "url" in elicitation;
}

export interface ServerRequest {
  readonly method: string;
  readonly params?: PlainObject | undefined;
}

/**
 * Prepares a server's request for the calling client. The forms of an untrusted server name the server, and so do the
 * prompts that it wants completed. It may not open a page.
 *
 * @throws UPSTREAM_ERROR
 */
export function toClientRequest(
  { method, params }: ServerRequest,
  { label, trusted }: Asking,
): ServerRequest {
  if (trusted || method === "roots/list") return { method, params };
  const named = (text: unknown) => `The server ${label} asks: ${toVisibleText(String(text ?? ""))}`;
  if (method === "sampling/createMessage")
    return { method, params: { ...params, systemPrompt: named(params?.systemPrompt) } };
  if (method === "elicitation/create" && (params?.mode ?? "form") === "form")
    return { method, params: { ...params, message: named(params?.message) } };
  const reason = `it asks the client for more than a form (${method}), which only a trusted server may`;
  throw problem("UPSTREAM_ERROR", { server: label, reason }, { server: label });
}

/** The client as seen by a server that asked for these facts. A promise only if the client has to be asked. */
export function seenBy(
  asked: ReadonlySet<AskedFact>,
  caller: CallingClient,
): SeenClient | Promise<SeenClient> {
  const lacks = ANSWERS.filter((name) => asked.has(name) && !canAnswer(caller, name));
  const folder = asked.has("folder") || asked.has("roots") ? caller.folder : undefined;
  const seen: SeenClient = { lacks, ...(folder !== undefined && { folder }) };
  if (!asked.has("roots") || !caller.roots) return seen;
  return caller.roots().then((roots) => ({ ...seen, roots }));
}

/** Names of arguments for a file or folder. */
const NAMES_PATH = /(?:path|file|folder|dir|directory|cwd)s?$/i;
const RELATIVE = /^\.{1,2}(?:[\\/]|$)/;

/** Whether the arguments of a call contain a relative path, which depends on the folder of the client. */
export function hasRelativePath(args: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(args).some(([name, value]) =>
    [value].flat().some((text) => typeof text === "string" && isRelative(name, text)),
  );
}

function isRelative(name: string, text: string): boolean {
  if (RELATIVE.test(text)) return true;
  return NAMES_PATH.test(name) && text !== "" && !isAbsolute(text) && !/^(?:~|[\w+.-]{2,}:)/.test(text);
}

/**
 * Whether a server starts in the folder of its client: its config has a relative path that is no file in the folder
 * that the person saw, or it keeps state for one client.
 */
export function startsInFolder({ args, env, stateful }: StdioConfig, shown = process.cwd()): boolean {
  const texts = [...args, ...Object.values(env)];
  return stateful === true || texts.some((text) => RELATIVE.test(text) && !isFile(resolve(shown, text)));
}

function isFile(path: string): boolean {
  return existsSync(path) && statSync(path).isFile();
}
