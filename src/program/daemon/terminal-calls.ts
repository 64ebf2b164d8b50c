import type { Socket } from "node:net";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { customProblem, isProblem, problem } from "../../base/problems/problem.ts";
import type { ProblemCode } from "../../base/problems/problems.ts";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import { PROGRAM_VERSION } from "../../base/util/program-version.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import type { ApprovalRequest } from "../../core/calls/decide-call.ts";
import type { Approval } from "../../core/nouns/question.ts";
import type { ToolAnswer } from "../../gateway/toolbox.ts";
import type { LocalOptions, Operator, TerminalCall, TerminalCallOptions } from "../open/open-local.ts";
import { daemonPaths, readAddress } from "./daemon-paths.ts";
import { greet } from "./reach-daemon.ts";
import { configOfDaemon } from "./serve-by-daemon.ts";

// One call of a person at a terminal, made by the gateway of the daemon. Each message is a line of JSON.

type FromPerson = { readonly call: TerminalCall } | { readonly approval: Approval };
type FromDaemon =
  | { readonly note: string }
  | { readonly ask: Pick<ApprovalRequest, "op" | "args"> }
  | { readonly answer: ToolAnswer }
  | { readonly problem: readonly [code: ProblemCode, message: string, next: string] };

/**
 * Uses the servers that the daemon runs, with the rights of this command. Undefined if no daemon of this version runs
 * or it cannot serve the config. Starts no daemon.
 */
export async function openRunning(options: LocalOptions): Promise<Operator | undefined> {
  const { allowWrite, isAsked, profile, trust = false } = options;
  const config = process.env.KEYHOLE_NO_DAEMON ? undefined : configOfDaemon(options.config);
  const address = config === undefined ? undefined : readAddress(daemonPaths());
  if (config === undefined || address?.version !== PROGRAM_VERSION) return undefined;
  const serve = {
    config: resolve(config),
    profile,
    shortcut: [],
    trust,
    // A person who can be asked may write: every call that writes asks first.
    allowWrite: allowWrite || isAsked,
    cwd: process.cwd(),
    env: process.env,
  };
  const met = await greet(address, { version: PROGRAM_VERSION, want: "operate", serve });
  if (!met?.welcome.ok || !("notes" in met.welcome)) {
    met?.socket.destroy();
    return undefined;
  }
  const { socket, welcome } = met;
  for (const note of welcome.notes) console.error(toVisibleText(note));
  return {
    isRemote: false,
    call: (operation, input) => callDaemon(socket, { operation, input, allowWrite, isAsked }),
    close: async () => void socket.destroy(),
  };
}

async function callDaemon(socket: Socket, call: TerminalCall): Promise<ToolAnswer> {
  send<FromPerson>(socket, { call });
  for await (const line of createInterface({ input: socket })) {
    const message = JSON.parse(line) as FromDaemon;
    if ("note" in message) console.error(toVisibleText(message.note));
    else if ("ask" in message) {
      const { askPerson } = await import("../open/open-local.ts");
      send<FromPerson>(socket, { approval: await askPerson(message.ask) });
    } else if ("answer" in message) return message.answer;
    else throw customProblem(...message.problem);
  }
  throw problem("DAEMON_FAILED", { reason: "it ended during the call, which may have had its effect" });
}

/** Makes the one call that the person sends. Their questions go to their terminal, one after the other. */
export function servePerson(
  socket: Socket,
  operate: (call: TerminalCall, options: TerminalCallOptions) => Promise<ToolAnswer>,
): void {
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  const gone = new AbortController();
  socket.once("close", () => gone.abort());
  const read = async () => JSON.parse((await lines.next()).value ?? "{}") as FromPerson;
  let asked: Promise<Approval> = Promise.resolve(false);
  const ask = async ({ op, args }: ApprovalRequest): Promise<Approval> => {
    send<FromDaemon>(socket, { ask: { op, args } });
    const message = await read();
    return "approval" in message && message.approval;
  };
  const serve = async (): Promise<FromDaemon> => {
    const message = await read();
    if (!("call" in message)) throw problem("DAEMON_FAILED", { reason: "the message is no call" });
    const answer = await operate(message.call, {
      approve: (request) => {
        asked = asked.then(() => ask(request));
        return asked;
      },
      note: (note) => send<FromDaemon>(socket, { note }),
      signal: gone.signal,
    });
    return { answer };
  };
  void serve()
    .catch((error: unknown): FromDaemon => {
      const { code, message, next } = isProblem(error)
        ? error
        : problem("DAEMON_FAILED", { reason: reasonOf(error) });
      return { problem: [code, message, next] };
    })
    .then((last) => socket.end(toLine(last)));
}

function send<Message>(socket: Socket, message: Message): void {
  socket.write(toLine(message));
}

function toLine(message: unknown): string {
  return `${JSON.stringify(message)}\n`;
}
