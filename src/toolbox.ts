import type { CallOptions, Gateway } from "./gateway-api.ts";
import { errorText, toErrorAnswer } from "./operations/answer-parts.ts";
import { failedWhole } from "./operations/failed-whole.ts";
import type { MenuOptions, MenuTool } from "./operations/menu.ts";
import { nativeTools, toNativeTool, vendorsRefuse } from "./operations/native-tools.ts";
import type { OperationName } from "./operations/operations.ts";
import { asKnownProblem } from "./operations/run-entry.ts";
import { surfaceTools } from "./operations/surfaces.ts";
import type { Entry } from "./schema/entry.ts";
import { problem } from "./schema/problem.ts";
import { cutText } from "./util/cut-text.ts";
import { nearest } from "./util/nearest.ts";

/** The tools of a surface with one way to call them: what every vendor's shape of tools is made from. */
export interface Toolbox {
  readonly tools: readonly MenuTool[];
  /** Runs a tool by its name. Problems are answers too: a model reads what to do about them. */
  call(name: string, args: unknown, options?: { readonly signal?: AbortSignal }): Promise<ToolAnswer>;
}

export interface ToolAnswer {
  readonly ok: boolean;
  /** For the model. */
  readonly text: string;
  /** For the application. */
  readonly data: unknown;
}

export type ToolboxOptions = MenuOptions & Pick<CallOptions, "principal" | "session" | "approve">;

export async function createToolbox(gateway: Gateway, options: ToolboxOptions = {}): Promise<Toolbox> {
  const { surface = "lanes", toolSearch = false, nativeNames = "ops", ...call } = options;
  const view = await gateway.view(call);
  const isNative = surface === "native";
  const entries = isNative ? nativeTools(view.shown, nativeNames, vendorsRefuse) : new Map<string, Entry>();
  const operations = new Map(surfaceTools({ surface, toolSearch }).map((tool) => [tool.name, tool]));
  const { principal } = view;
  return {
    tools: isNative
      ? [...entries].map(([name, entry]) => toNativeTool(name, entry))
      : await gateway.menu({ principal, surface, toolSearch }),
    call: (name, args, { signal } = {}) => {
      const callOptions = { ...call, ...(signal && { signal }) };
      const entry = entries.get(name);
      if (entry) return callEntry(gateway, entry, args, callOptions);
      const tool = operations.get(name);
      if (!tool) return Promise.resolve(unknownTool(name, [...operations.keys(), ...entries.keys()]));
      return callOperation(gateway, tool.operation, args, {
        ...callOptions,
        getMayWrite: tool.mayWrite ?? false,
      });
    },
  };
}

/** Runs an entry that is a tool of its own. */
export async function callEntry(
  gateway: Gateway,
  entry: Entry,
  args: unknown,
  options: CallOptions,
): Promise<ToolAnswer> {
  const given = (args ?? {}) as Record<string, unknown>;
  // Who calls a destructive tool by its own name has been shown that it is one.
  if (entry.kind === "tool") {
    return callOperation(gateway, "exec", { op: entry.op, args: given, dry_run: false }, options);
  }
  return callOperation(gateway, "get", { routes: [{ route: entry.route, params: given }] }, options);
}

/** Runs an operation, which checks its own input. */
export async function callOperation(
  gateway: Gateway,
  operation: OperationName,
  input: unknown,
  options: CallOptions,
): Promise<ToolAnswer> {
  try {
    const { text, ...data } = await gateway[operation](input as never, options);
    return { ok: !failedWhole(operation, data), text, data };
  } catch (error) {
    const answer = toErrorAnswer(asKnownProblem(error, operation), "root");
    return { ok: false, text: errorText(answer), data: { error: answer } };
  }
}

function unknownTool(name: string, known: readonly string[]): ToolAnswer {
  const answer = toErrorAnswer(
    problem("NOT_FOUND", { name: `tool ${cutText(name, 80)}` }, { nearest: nearest(name, known) }),
    "root",
  );
  return { ok: false, text: errorText(answer), data: { error: answer } };
}
