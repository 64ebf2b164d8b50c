import { INJECTION_KINDS } from "../base/safety/detect-injection.ts";
import { toVisibleLine } from "../base/safety/visible-text.ts";
import { loadTokenCounter, type TokenCounter } from "../base/tokens/tokens.ts";
import { countOf } from "../base/util/count-of.ts";
import { lazy } from "../base/util/lazy.ts";
import { fieldsOf } from "../base/util/plain-object.ts";
import { type Consents, showProgram } from "../core/access/consents.ts";
import type { DefinitionChange } from "../core/access/diff-definitions.ts";
import { type Pin, type Pins, waits } from "../core/access/pins.ts";
import { type DeclaredTool, impliedLane, laneOfTool, strongest } from "../core/catalog/tool-lane.ts";
import { DOES, type Entry, type Lane } from "../core/nouns/entry.ts";
import type { SandboxLimits, ServerProgram } from "../core/nouns/server-program.ts";

/** A definition as a person judges it. Its texts are untrusted. */
export interface DefinitionApproval extends Pin {
  /** The name that the server gives it. */
  readonly name: string;
  readonly op: string;
  /** In a person's words: what a tool may do, or which kind of entry it is. */
  readonly effect: string;
  /** Tokens of the definition in the list of a client. */
  readonly tokens: number;
  readonly definition: Readonly<Record<string, unknown>>;
  /** Differences from the approved definition. Empty if none was approved, or if it equals the approved one. */
  readonly changes: readonly DefinitionChange[];
  /** Sentences to read first: how the definition tries to steer a model. */
  readonly warnings: readonly string[];
  /** The lane of a tool without a mark. Absent if a mark cannot change it: the config decides, or it is not a tool. */
  readonly ownLane?: Lane;
  /** A milder lane that the tool appears to have. */
  readonly milder?: Lane;
}

/** The program of a server, in whole lines. */
export interface ProgramApproval {
  readonly server: string;
  readonly hash: string;
  readonly isApproved: boolean;
  readonly lines: readonly string[];
}

/** Proposed limits for the process of a server, in whole lines. */
export interface LimitsApproval {
  readonly limits: SandboxLimits;
  /** Hash of exactly these limits for this program. */
  readonly hash: string;
  readonly lines: readonly string[];
}

/** Everything of one server that a person approves or rejects. */
export interface ServerApprovals {
  readonly server: string;
  /** Absent if the present limits fit. */
  readonly proposal?: LimitsApproval;
  /** Absent for servers that a config module starts by itself. */
  readonly program?: ProgramApproval;
  readonly definitions: readonly DefinitionApproval[];
}

/** A question to a person: whole lines, or definitions with a choice for each. */
export interface ApprovalCard {
  readonly title: string;
  /** Lines to show whole and unchanged: a program, or the contents of a folder. */
  readonly facts: readonly string[];
  readonly definitions: readonly DefinitionApproval[];
  /** Label of the approval on a card without definitions. */
  readonly yes?: string;
  /** Whether the person may keep the server to the limits among the facts. */
  readonly limits?: boolean;
  /** The server whose later changes of wording the person may let through. */
  readonly rewords?: string;
}

/** A person's decision about a card. Definitions in neither list keep waiting. */
export interface ApprovalDecision {
  readonly approve: readonly Pin[];
  readonly reject: readonly Pin[];
  /** The person limits the server to the proposal. */
  readonly isLimited?: boolean;
  /** The person lets the server change wording from now on. */
  readonly wordingOk?: boolean;
}

/** `later` leaves this card, `stop` leaves this card and all that follow. */
export type ApprovalAnswer = ApprovalDecision | "later" | "stop";

/** Shows cards to a person: a screen of its own, or the chat. */
export interface ApprovalFace {
  show(card: ApprovalCard): Promise<ApprovalAnswer>;
  /** Shows the outcome, and whether something still waits. */
  tell(sentence: string, isWaiting?: boolean): void;
}

export async function toProgramApproval(
  program: ServerProgram,
  consents: Pick<Consents<boolean | Promise<boolean>>, "isGiven">,
): Promise<ProgramApproval> {
  const isApproved = await consents.isGiven(program);
  return { server: program.label, hash: program.hash, isApproved, lines: showProgram(program) };
}

/** Lists programs and definitions with their states, by server. Waiting ones come first. */
export async function listApprovals(
  pins: Pins,
  entries: readonly Entry[],
  programs: readonly ProgramApproval[] = [],
): Promise<ServerApprovals[]> {
  const countTokens = await loadTokenCounter();
  const byRoute = new Map(entries.map((entry) => [entry.route, entry]));
  const bySource = new Map(
    [...Map.groupBy(pins.list(), ({ source }) => source)].map(([source, some]) => {
      // Compare all tools of the server, even if only some of them are listed.
      const isHintEmpty = lazy(() =>
        marksAllDestructive(
          entries.flatMap((entry) => (entry.origin?.source === source ? (declaredTool(entry) ?? []) : [])),
        ),
      );
      const toListed = (pin: Pin) => toApproval(pins, pin, byRoute.get(pin.route), countTokens, isHintEmpty);
      return [source, some.map(toListed)];
    }),
  );
  const servers = new Set([...programs.map(({ server }) => server), ...bySource.keys()]);
  return [...servers].map((server) => {
    const program = programs.find((one) => one.server === server);
    const definitions = (bySource.get(server) ?? []).toSorted(
      (left, right) => Number(waits(right)) - Number(waits(left)),
    );
    return { server, ...(program && { program }), definitions };
  });
}

function toApproval(
  pins: Pins,
  pin: Pin,
  entry: Entry | undefined,
  countTokens: TokenCounter,
  isHintEmpty: () => boolean,
): DefinitionApproval {
  const definition = entry?.origin?.definition ?? {};
  const tool = entry?.origin?.lane === undefined ? declaredTool(entry) : undefined;
  const milder = tool && milderLane(tool, isHintEmpty);
  return {
    ...pin,
    name: typeof definition.name === "string" ? definition.name : (entry?.name ?? pin.route),
    op: entry?.op ?? pin.route,
    effect: entry?.kind === "tool" ? DOES[entry.lane] : (entry?.kind ?? ""),
    tokens: definitionTokens(entry, countTokens),
    definition,
    changes: changesOf(pins, pin),
    warnings: pin.injection.map((kind) => `It ${INJECTION_KINDS[kind]}.`),
    ...(tool && { ownLane: laneOfTool(tool) }),
    ...(milder && { milder }),
  };
}

/** The tokens of a definition in the list of a client. */
export function definitionTokens(entry: Entry | undefined, countTokens: TokenCounter): number {
  const { name, description, inputSchema } = entry?.origin?.definition ?? {};
  return countTokens(JSON.stringify({ name, description, inputSchema }));
}

function changesOf(pins: Pins, { route, state }: Pin): readonly DefinitionChange[] {
  if (state === "approved" || state === "trusted" || state === "pending") return [];
  const changes = pins.diff(route);
  // A definition without an earlier version has only new fields, the name among them.
  const isFirst = changes.every((change) => !("before" in change));
  return isFirst && changes.some(({ path }) => path === "/name") ? [] : changes;
}

/**
 * The lane that a tool appears to have, if that is milder than its own: it declares nothing and its first verb reads,
 * or it is destructive only by a hint that its server gives to every tool. Never milder than its own annotations.
 */
function milderLane(tool: DeclaredTool, isHintEmpty: () => boolean): Lane | undefined {
  const { readOnlyHint, destructiveHint } = tool.annotations ?? {};
  if (destructiveHint === true && !isHintEmpty()) return undefined;
  const milder = strongest(readOnlyHint === false ? "write" : "read", impliedLane(tool));
  return strongest(milder, laneOfTool(tool)) === milder ? undefined : milder;
}

/** From this many tools on, `destructiveHint` means nothing if all tools that do not read have it. */
const MANY_ALIKE = 3;

/** Whether a server marks every tool that does not read as destructive. */
function marksAllDestructive(tools: readonly DeclaredTool[]): boolean {
  const others = tools.filter(({ annotations }) => annotations?.readOnlyHint !== true);
  return (
    others.length >= MANY_ALIKE && others.every(({ annotations }) => annotations?.destructiveHint === true)
  );
}

function declaredTool(entry: Entry | undefined): DeclaredTool | undefined {
  if (entry?.kind !== "tool" || !entry.origin) return undefined;
  const { name, annotations, inputSchema } = entry.origin.definition;
  return { name: String(name), annotations: fieldsOf(annotations), inputSchema };
}

/** The definition with this lane marked. Undefined removes the mark. */
export function markLane(definition: DefinitionApproval, lane: Lane | undefined): DefinitionApproval {
  const { ownLane } = definition;
  if (ownLane === undefined) return definition;
  return { ...definition, effect: DOES[lane ?? ownLane], lane: lane === ownLane ? undefined : lane };
}

/** Asks whether a server may start. */
export function programCard({ server, lines }: ProgramApproval): ApprovalCard {
  const name = toVisibleLine(server);
  return {
    title: `May ${name} start? It runs or reaches exactly this:`,
    facts: lines,
    definitions: [],
    yes: `Yes, let ${name} start and list its tools`,
  };
}

/** Asks whether to limit a server, if nothing else of it waits. */
export function limitsCard(server: string, { lines }: LimitsApproval): ApprovalCard {
  const name = toVisibleLine(server);
  return {
    title: `May ${name} run within these limits?`,
    facts: lines,
    definitions: [],
    yes: `Yes, keep ${name} to this sandbox`,
  };
}

/**
 * Asks which definitions of a server models may see.
 *
 * @param offersWording Whether to offer that servers change wording from now on, if such a change is shown.
 */
export function definitionsCard(
  server: string,
  definitions: readonly DefinitionApproval[],
  offersWording = false,
  proposal?: LimitsApproval,
): ApprovalCard {
  const total = definitions.reduce((sum, { tokens }) => sum + tokens, 0).toLocaleString("en-US");
  const size = `${countOf(definitions.length, "tool")}, ${total} tokens`;
  const isReworded = definitions.some(({ changes }) =>
    changes.some(({ path }) => path.endsWith("/description")),
  );
  return {
    title: `${toVisibleLine(server)}: ${size}. Which may models see and call?`,
    facts: [...(proposal?.lines ?? []), ...milderFacts(definitions)],
    definitions,
    ...(proposal && { limits: true }),
    ...(offersWording && isReworded && { rewords: "servers" }),
  };
}

/** Says which tools each key marks. */
function milderFacts(definitions: readonly DefinitionApproval[]): string[] {
  const count = (lane: Lane) => definitions.filter(({ milder }) => milder === lane).length;
  const [reading, writing] = [count("read"), count("write")];
  const look = countOf(reading, "tool looks as if it only reads", "tools look as if they only read");
  const destroy = countOf(writing, "tool destroys", "tools destroy");
  return [
    ...(reading > 0 ? [`${look}, and the server does not say so. R: count as reading.`] : []),
    ...(writing > 0
      ? [`${destroy} only by a hint that the server gives to everything. R: count as writing.`]
      : []),
  ];
}

/** Records a decision about exactly the definitions that were shown. */
export async function recordDecision(
  pins: Pins,
  { definitions }: ApprovalCard,
  { approve, reject }: ApprovalDecision,
): Promise<{ readonly waiting: number; readonly sentence: string }> {
  const approved = approve.length === 0 ? 0 : await pins.approve({ pins: approve });
  const rejected = reject.length === 0 ? 0 : await pins.reject({ pins: reject });
  const waiting = Math.max(0, definitions.filter(waits).length - approved - rejected);
  const parts = [
    `${approved} approved`,
    ...(rejected > 0 ? [`${rejected} rejected`] : []),
    ...(waiting > 0 ? [countOf(waiting, "waits", "wait")] : []),
  ];
  return { waiting, sentence: toVisibleLine(`${definitions[0]?.source}: ${parts.join(", ")}.`) };
}
