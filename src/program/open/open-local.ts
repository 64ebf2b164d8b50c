import type { ToolNames } from "../../base/problems/format-message.ts";
import { isProblem } from "../../base/problems/problem.ts";
import { toVisibleLine, toVisibleText } from "../../base/safety/visible-text.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import type { ApprovalRequest } from "../../core/calls/decide-call.ts";
import type { Approval } from "../../core/nouns/question.ts";
import type { OperationName } from "../../core/operations/operations.ts";
import type { FaceOptions } from "../../gateway/face-api.ts";
import type { Gateway } from "../../gateway/gateway-api.ts";
import type { SourceStatus } from "../../gateway/start/followed-source.ts";
import { callOperation, type ToolAnswer } from "../../gateway/toolbox.ts";
import { askYesOrNo } from "../terminal/confirm.ts";
import { openFilledConfig } from "./open-config.ts";
import { listSources, openGateway, serverName } from "./open-gateway.ts";
import type { ConfigOptions } from "./read-servers.ts";
import { localUser } from "./stores.ts";

/** Gives an input to the gateway that the command line names. */
export interface Operator {
  call(name: OperationName, input: object): Promise<ToolAnswer>;
  /** Whether the gateway runs elsewhere and speaks to models. */
  readonly isRemote: boolean;
  close(): Promise<void>;
}

export interface LocalOptions extends Pick<ConfigOptions, "config" | "profile" | "trust"> {
  /** Runs tools that write without asking. */
  readonly allowWrite: boolean;
  readonly isAsked: boolean;
}

/** A server that never answers must not hold up a command that runs once. */
const LISTING_MS = 2_000;

/** The words of the terminal. The reader is the owner, who allows a call by a flag. */
const WORDS: ToolNames = {
  ask: "keyhole ask",
  help: "keyhole show",
  get: "keyhole show",
  exec: "keyhole call",
  run: "keyhole script",
  params: "name=value",
  dry_run: "--dry-run",
  allow_write: "Add --allow-write to allow it.",
  // The plan ends with the command, so the script runs again.
  perform_plan: "To perform these effects, call {run} again without --dry-run.",
  perform_approved: "Then call {run} again.",
  approve_call:
    "Type keyhole approve {call} in a terminal: it shows exactly this and lets it run once. In a terminal this command asks by itself.",
};
const IN_TERMINAL = "Run it in a terminal, where you are asked.";
const OR_UNASKED = "With --allow-write only tools that destroy or insist on a confirmation ask.";

/** One call of a person at a terminal. */
export interface TerminalCall extends Pick<LocalOptions, "allowWrite" | "isAsked"> {
  readonly operation: OperationName;
  readonly input: object;
}

export interface TerminalCallOptions extends Pick<FaceOptions, "principal" | "signal"> {
  approve(request: ApprovalRequest): Approval | Promise<Approval>;
  /** Receives sentences about servers that did not answer. */
  note(sentence: string): void;
}

/** A gateway for one command, over the config. */
export async function openLocal({ allowWrite, isAsked, ...given }: LocalOptions): Promise<Operator> {
  const opened = await openFilledConfig(given);
  for (const { message } of opened.loaded.problems) console.error(toVisibleText(message));
  // A person who can be asked may write: every call that writes asks first.
  const { gateway, close } = openGateway({ ...opened, allowWrite: allowWrite || isAsked });
  const note = (sentence: string) => console.error(toVisibleText(sentence));
  return {
    isRemote: false,
    call: (operation, input) =>
      callForPerson(gateway, { operation, input, allowWrite, isAsked }, { approve: askPerson, note }),
    close,
  };
}

/** Makes a call for a person, in the words of the terminal. */
export async function callForPerson(
  gateway: Gateway,
  { operation, input, allowWrite, isAsked }: TerminalCall,
  { approve, note, ...options }: TerminalCallOptions,
): Promise<ToolAnswer> {
  // A command that runs once would otherwise answer before a new server has said what it offers.
  const isNew = ({ newest, isFresh }: SourceStatus) => newest === undefined && !isFresh;
  for (const [id, error] of await listSources(gateway, isNew, AbortSignal.timeout(LISTING_MS))) {
    const isLate = isProblem(error) && error.code === "CANCELLED";
    const late = `${serverName(id)} has not answered yet: this goes on without it.`;
    note(isLate ? late : reasonOf(error));
  }
  return callOperation(
    gateway,
    { operation, input },
    {
      ...options,
      words: { ...WORDS, find_approver: allowWrite ? IN_TERMINAL : `${IN_TERMINAL} ${OR_UNASKED}` },
      approve: isAsked ? approve : () => false,
      policy: { asks: allowWrite ? "never" : "writes" },
      // Servers have had their time.
      startingMs: 0,
      // The command ends with the call, and its session with it: nobody could read on.
      limits: { resultTokens: Number.POSITIVE_INFINITY },
    },
  );
}

/** Shows a call, and asks whether it may run. */
export async function askPerson({ op, args }: Pick<ApprovalRequest, "op" | "args">): Promise<Approval> {
  const lines = JSON.stringify(args, null, 2).split("\n").map(toVisibleLine);
  console.error(lines.join("\n"));
  const agreed = await askYesOrNo(`Run ${toVisibleLine(op)} with exactly this?`);
  return agreed ? { by: localUser() } : "declined";
}
