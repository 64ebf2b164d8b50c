import type { ToolNames } from "../base/problems/format-message.ts";
import { problem } from "../base/problems/problem.ts";
import { cutText } from "../base/util/cut-text.ts";
import { nearest } from "../base/util/nearest.ts";
import { fieldsOf, type PlainObject } from "../base/util/plain-object.ts";
import type { View } from "../core/access/view.ts";
import type { Entry } from "../core/nouns/entry.ts";
import { readInput, toJsonNames } from "../core/nouns/json-form.ts";
import { errorSchema, errorText, ROOT } from "../core/operations/error-answer.ts";
import { type OperationName, operationByAlias, operationOf } from "../core/operations/operations.ts";
import { type MenuOptions, shortcutsOf } from "../core/surfaces/menu.ts";
import { type MenuTool, nativeTools, toNativeTool, vendorsRefuse } from "../core/surfaces/native-tools.ts";
import { surfaceTools, wordsOf } from "../core/surfaces/surface.ts";
import { type FaceOptions, faceApiOf } from "./face-api.ts";
import type { CallOptions, Gateway, OperationAnswer } from "./gateway-api.ts";

/** The tools of a surface with one way to call them. Adapters for vendors start from it. */
export interface Toolbox {
  readonly tools: readonly MenuTool[];
  /** Runs a tool by its name. Failures are answers too, so that a model can act on them. */
  call(name: string, args: unknown, options?: CallOptions): Promise<ToolAnswer>;
}

/** The answer of a tool. */
export interface ToolAnswer {
  readonly ok: boolean;
  /** For the model. */
  readonly text: string;
  /** The answer as JSON, for the application. */
  readonly data: unknown;
}

/** Options of {@link createToolbox}: the surface, and who calls. */
export type ToolboxOptions = MenuOptions & Pick<CallOptions, "principal" | "session" | "approve">;

/** The operation behind a tool call. The input is as sent, or as {@link readCall} has read it. */
export interface ToolCall {
  readonly operation: OperationName;
  readonly input: unknown;
  /** The entry listed under the name, with its arguments. Only on `native`. */
  readonly native?: { readonly entry: Entry; readonly args: PlainObject };
}

/** A toolbox as faces use it. */
export interface FaceToolbox extends Toolbox {
  /** Entries listed as tools, by name. Only on `native`. */
  readonly entries: ReadonlyMap<string, Entry>;
  readonly words: ToolNames;
  /** Options of every call. */
  readonly face: Pick<FaceOptions, "principal" | "surface">;
  call(name: string, args: unknown, options?: FaceOptions): Promise<ToolAnswer>;
  /** The operation for a tool and its arguments; undefined for an unknown name. */
  toCall(name: string, args: unknown): ToolCall | undefined;
}

/**
 * Creates the tools of a gateway for any model vendor. {@link toOpenAITools}, {@link toAnthropicTools} and {@link
 * toLangChainTools} convert them for one vendor.
 *
 * @throws INVALID_INPUT for a gateway that {@link createGateway} did not make
 * @example
 * ```ts
 * import { createGateway, createToolbox } from "keyhole";
 *
 * const gateway = createGateway({ domains: [] });
 * const toolbox = await createToolbox(gateway);
 * console.log(toolbox.tools.map((tool) => tool.name));
 * const answer = await toolbox.call("ask", { query: "refund" });
 * console.assert(answer.ok);
 * await gateway.close();
 * ```
 */
export async function createToolbox(gateway: Gateway, options: ToolboxOptions = {}): Promise<Toolbox> {
  const { surface, toolSearch, run, nativeNames, shortcuts, ...call } = options;
  const { tools, ...toolbox } = await createFaceToolbox(gateway, { refuses: vendorsRefuse, ...options });
  return { tools, call: (name, args, callOptions) => toolbox.call(name, args, { ...call, ...callOptions }) };
}

export interface FaceToolboxOptions extends MenuOptions, Pick<CallOptions, "principal"> {
  readonly refuses?: (name: string) => boolean;
  /** Default: the view of the principal once all servers have started. */
  readonly view?: View;
}

export async function createFaceToolbox(
  gateway: Gateway,
  {
    surface = "lanes",
    toolSearch = false,
    run = false,
    nativeNames = "ops",
    shortcuts = [],
    principal: caller,
    refuses,
    view: chosen,
  }: FaceToolboxOptions,
): Promise<FaceToolbox> {
  const core = faceApiOf(gateway);
  const view = chosen ?? (await gateway.view({ principal: caller }));
  const face = { principal: view.principal, surface: { surface, toolSearch, run } };
  const operations = new Map(surfaceTools(face.surface).map(({ name, operation }) => [name, operation]));
  const words = wordsOf(face.surface);
  const isNative = surface === "native";
  const entries = isNative ? nativeTools(view.shown, nativeNames, refuses) : new Map<string, Entry>();
  const tools = isNative
    ? [...entries].map(([name, entry]) => toNativeTool(name, entry))
    : await core.menuOf(view, { ...face.surface, shortcuts });
  const listed = new Set(tools.map(({ name }) => name));
  const short = shortcutsOf(view, { ...face.surface, shortcuts });

  function toCall(name: string, args: unknown): ToolCall | undefined {
    const entry = entries.get(name);
    if (entry) return { ...toEntryCall(entry, args), native: { entry, args: fieldsOf(args) } };
    const shortcut = listed.has(name) ? short.get(name) : undefined;
    if (shortcut) return toEntryCall(shortcut, args);
    const operation = operations.get(name) ?? operationByAlias(name);
    const isShown = operation && [...operations.values()].includes(operation);
    return isShown ? { operation, input: args } : undefined;
  }

  return {
    tools,
    entries,
    words,
    face,
    toCall,
    call: async (name, args, options = {}) => {
      const call = toCall(name, args);
      if (!call) return unknownTool(name, [...listed], words);
      return callOperation(gateway, call, { ...face, ...options });
    },
  };
}

/** The call of an entry listed as a tool. It never runs dry by default: the model chose the tool by its name. */
export function toEntryCall(entry: Entry, args: unknown): ToolCall {
  return entry.kind === "tool"
    ? { operation: "exec", input: { op: entry.op, args: args ?? {}, dryRun: false } }
    : { operation: "get", input: { routes: [{ route: entry.route, params: args ?? {} }] } };
}

/** Reads the input before the call is decided about. Unreadable input stays as it is: the run reports it. */
export function readCall(call: ToolCall): ToolCall {
  try {
    return { ...call, input: readInput(operationOf(call.operation), call.input) };
  } catch {
    return call;
  }
}

export async function callOperation(
  gateway: Gateway,
  { operation, input }: ToolCall,
  options: FaceOptions,
): Promise<ToolAnswer> {
  return toToolAnswer(operation, await faceApiOf(gateway).run(operation, input, options));
}

export function toToolAnswer(
  operation: OperationName,
  { text, ...answer }: OperationAnswer<OperationName>,
): ToolAnswer {
  const data = {
    ...toJsonNames(operationOf(operation).output, answer),
    ...(!answer.ok && { error: toJsonNames(errorSchema, answer.error) }),
  };
  return { ok: answer.ok, text, data };
}

function unknownTool(name: string, toolNames: readonly string[], words: ToolNames): ToolAnswer {
  const fills = { name: `Tool ${cutText(name, 80)}` };
  const missing = problem("NOT_FOUND", fills, { nearest: nearest(name, toolNames) });
  const { code, details } = missing;
  const error = { ...missing.inWords(words), code, details: { ...details }, helpPath: ROOT };
  return { ok: false, text: errorText(error), data: { ok: false, error: toJsonNames(errorSchema, error) } };
}
