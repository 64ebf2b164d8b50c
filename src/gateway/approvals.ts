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

/** A definition as a person judges it. Its texts come from outside. */
export interface DefinitionApproval extends Pin {
  /** The server's own name for it. */
  readonly name: string;
  readonly op: string;
  /** In a person's words: what a tool may do, or which kind of entry it is. */
  readonly effect: string;
  /** Tokens of the definition in the list of a client. */
  readonly tokens: number;
  readonly definition: Readonly<Record<string, unknown>>;
  /** How it differs from the approved definition. Empty if none was approved, or if it is the approved one. */
  readonly changes: readonly DefinitionChange[];
  /** Sentences that a person reads first: how it tries to steer a model. */
  readonly warnings: readonly string[];
  /** The lane of a tool without a mark. Absent if no mark can change it: the config decides, or it is no tool. */
  readonly ownLane?: Lane;
  /** A milder lane that the tool looks as if it had. */
  readonly milder?: Lane;
}

/** The program of a server, in whole lines. */
export interface ProgramApproval {
  readonly server: string;
  readonly hash: string;
  readonly isApproved: boolean;
  readonly lines: readonly string[];
}

/** Limits that are proposed for the process of a server, in whole lines. */
export interface LimitsApproval {
  readonly limits: SandboxLimits;
  /** Names exactly these limits of this program. */
  readonly hash: string;
  readonly lines: readonly string[];
}

/** Everything of one server that a person says yes or no to. */
export interface ServerApprovals {
  readonly server: string;
  /** Absent if nothing speaks for other limits than the present ones. */
  readonly proposal?: LimitsApproval;
  /** Absent for servers that a config module starts by itself. */
  readonly program?: ProgramApproval;
  readonly definitions: readonly DefinitionApproval[];
}

/** A question to a person: whole lines, or definitions with a choice for each. */
export interface ApprovalCard {
  readonly title: string;
  /** Lines that are shown whole and exactly: a program, or the contents of a folder. */
  readonly facts: readonly string[];
  readonly definitions: readonly DefinitionApproval[];
  /** The yes to a card without definitions. */
  readonly yes?: string;
  /** Whether the person may keep the server to the limits among the facts. */
  readonly limits?: boolean;
  /** The server whose changes of wording the person may let through from now on. */
  readonly rewords?: string;
}

/** A person's decision about a card. Definitions in neither list keep waiting. */
export interface ApprovalDecision {
  readonly approve: readonly Pin[];
  readonly reject: readonly Pin[];
  /** The person keeps the server to the proposed limits. */
  readonly isLimited?: boolean;
  /** The person lets the server change wording from now on. */
  readonly wordingOk?: boolean;
}

/** `later` leaves the card, `stop` leaves all that would follow. */
export type ApprovalAnswer = ApprovalDecision | "later" | "stop";

/** The place where a person answers cards: a screen of its own, or the chat. */
export interface ApprovalFace {
  show(card: ApprovalCard): Promise<ApprovalAnswer>;
  /** Tells the outcome, and whether something still waits. */
  tell(sentence: string, isWaiting?: boolean): void;
}

export async function toProgramApproval(
  program: ServerProgram,
  consents: Pick<Consents<boolean | Promise<boolean>>, "isGiven">,
): Promise<ProgramApproval> {
  const isApproved = await consents.isGiven(program);
  return { server: program.label, hash: program.hash, isApproved, lines: showProgram(program) };
}

/** Lists programs and definitions with their states, by server. Those that wait come first. */
export async function listApprovals(
  pins: Pins,
  entries: readonly Entry[],
  programs: readonly ProgramApproval[] = [],
): Promise<ServerApprovals[]> {
  const countTokens = await loadTokenCounter();
  const byRoute = new Map(entries.map((entry) => [entry.route, entry]));
  const bySource = new Map(
    [...Map.groupBy(pins.list(), ({ source }) => source)].map(([source, some]) => {
      // All tools of the server tell, also if some of them alone are listed.
      const isHintEmpty = lazy(() =>
        hintsAlike(
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
  // A definition that is compared with nothing has only new fields, its name among them.
  const isFirst = changes.every((change) => !("before" in change));
  return isFirst && changes.some(({ path }) => path === "/name") ? [] : changes;
}

/**
 * The lane that a tool looks as if it had, if that is milder than its own: it says nothing and its first verb reads, or
 * it destroys only by a hint that its server gives to everything. Never milder than what it says of itself alone.
 */
function milderLane(tool: DeclaredTool, isHintEmpty: () => boolean): Lane | undefined {
  const { readOnlyHint, destructiveHint } = tool.annotations ?? {};
  if (destructiveHint === true && !isHintEmpty()) return undefined;
  const milder = strongest(readOnlyHint === false ? "write" : "read", impliedLane(tool));
  return strongest(milder, laneOfTool(tool)) === milder ? undefined : milder;
}

/** Tools whose hint that they destroy tells nothing: a server has this many, and says the same of all that do not read. */
const MANY_ALIKE = 3;

/** Whether a server calls everything destructive that does not read. */
function hintsAlike(tools: readonly DeclaredTool[]): boolean {
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

/** The definition with another mark, or without one. */
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

/** Asks whether a server is kept to the proposed limits, if nothing else of it waits. */
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
 * @param offersWording Whether the person may let servers change wording from now on, if such a change is shown.
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

/** Says which tools one key marks. */
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
