import type { AskOutput } from "../operations/ask-input.ts";
import { OPERATIONS, type OperationName } from "../operations/operations.ts";
import type { ToolAnswer } from "../toolbox.ts";
import { toVisibleText } from "../util/visible-text.ts";
import { hasTerminal } from "./confirm.ts";
import { fieldOptions, type OperationArgs, readOperationArgs } from "./operation-args.ts";
import type { Operator } from "./operator.ts";
import { showAsk } from "./show-ask.ts";

/** The command of an operation: every operation is one. */
export function operationCommand(name: OperationName) {
  return { run: (args: readonly string[]) => operate(name, args) };
}

async function operate(name: OperationName, args: readonly string[]): Promise<void> {
  const operation = OPERATIONS[name];
  const given = readOperationArgs(operation as never, args);
  if (given.help) return console.log(usageOf(name));
  const operator = await open(given);
  try {
    const answer = await operator.call(name, given.input);
    console.log(given.json ? JSON.stringify(answer.data, null, 2) : shown(name, answer));
    if (!answer.ok) process.exitCode = 1;
  } finally {
    await operator.close();
  }
}

/** With an address, the gateway that runs there; otherwise one of its own for the config and the settings. */
async function open({
  url = process.env.KEYHOLE_URL,
  config,
  profile,
  trust,
  allowWrite,
}: OperationArgs): Promise<Operator> {
  if (url && config === undefined) {
    const { openRemote } = await import("./open-remote.ts");
    return openRemote(url, process.env.KEYHOLE_TOKEN);
  }
  const { openLocal } = await import("./open-local.ts");
  return openLocal({ config, profile, trust, allowWrite, isAsked: hasTerminal() });
}

function shown(name: OperationName, { ok, text, data }: ToolAnswer): string {
  const readable = name === "ask" && ok ? showAsk(data as AskOutput) : text;
  return toVisibleText(readable);
}

function usageOf(name: OperationName): string {
  const { title, command } = OPERATIONS[name];
  return `Usage: keyhole ${command.name ?? name} ${command.usage} [options]

${title}. Values are read as JSON where they are JSON, otherwise as text.

  ${fieldOptions(OPERATIONS[name] as never).join("\n  ")}

  --config FILE    as for keyhole serve
  --profile NAME   only the servers of this profile of the config
  --url ADDRESS    a gateway that runs already, instead of a config (default: KEYHOLE_URL; token: KEYHOLE_TOKEN)
  --trust          start the servers of a JSON config and accept all definitions without approval
  --allow-write    run tools that write without asking
  --json           print the whole answer as JSON
  -h, --help

Exits with 1 if the answer is an error.`;
}
