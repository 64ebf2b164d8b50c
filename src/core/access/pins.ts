import { findInjection, type InjectionKind } from "../../base/safety/detect-injection.ts";
import { lazy } from "../../base/util/lazy.ts";
import { memoizeByObject } from "../../base/util/memoize-by-object.ts";
import { BARE_ENTRY } from "../nouns/bare-entry.ts";
import {
  type Draft,
  domainOf,
  type EntryDraft,
  type EntryStatus,
  type Lane,
  type Origin,
} from "../nouns/entry.ts";
import { openRecordFile } from "../storage/record-file.ts";
import { createMemoryRecords } from "../storage/records.ts";
import { type Publish, publish } from "../telemetry/events.ts";
import { type DefinitionChange, diffDefinitions } from "./diff-definitions.ts";
import { type Grants, openGrantsNow, revoked } from "./grants.ts";

/**
 * `pending`: never approved. `changed`: another definition was approved. `trusted`: its source needs no approval.
 * `flagged`: trusted, but it tries to steer a model, so a person decides. `reworded`: approved with other descriptions,
 * which its source may change. `rejected`: a person rejected exactly this definition.
 */
export type PinState = "approved" | "pending" | "changed" | "trusted" | "flagged" | "reworded" | "rejected";

/** Definitions in these states can be found and called. */
const USABLE: ReadonlySet<PinState> = new Set(["approved", "trusted", "reworded"]);

/** The states of definitions that wait for a person. */
const WAITING: ReadonlySet<PinState> = new Set(["pending", "changed", "flagged"]);

export function waits({ state }: Pick<Pin, "state">): boolean {
  return WAITING.has(state);
}

/** The approval state of one entry. */
export interface Pin {
  readonly route: string;
  readonly source: string;
  readonly state: PinState;
  readonly hash: string;
  /** Hash of the program or address behind the source. */
  readonly program: string;
  /** The ways in which the definition tries to steer a model. See {@link findInjection}. */
  readonly injection: readonly InjectionKind[];
  /** The lane that a person set for exactly this definition. Without it, the definition decides. */
  readonly lane?: Lane | undefined;
}

/** Selects all pins, those of one source, one route, or listed pins exactly as listed. */
export type PinSelection =
  | "all"
  | { readonly source: string }
  | { readonly route: string }
  | { readonly pins: readonly Pin[] };

/** Approvals of outside definitions. The same state decides about finding and calling. */
export interface Pins {
  /** Lists the pins of all judged entries by route. */
  list(): readonly Pin[];
  /** The changes since the approved definition. Without one, every field is new. */
  diff(route: string): readonly DefinitionChange[];
  /**
   * Approves definitions exactly as they are now: waiting ones, and rejected ones that the selection names. Also sets
   * the `lane` of listed pins, even if they are in use. Resolves to the number of changed approvals. `by` is the name
   * in the audit log. Default: the owner of the gateway.
   */
  approve(which: PinSelection, by?: string): Promise<number>;
  /** Rejects waiting definitions: hidden, and not asked about until they change. Resolves to their number. */
  reject(which: PinSelection, by?: string): Promise<number>;
  /** Revokes approvals and rejections. Resolves to their number. */
  revoke(which: PinSelection, by?: string): Promise<number>;
  /** Set if the store was damaged: everything waits for approval again. */
  readonly damage: string | undefined;
  /**
   * Returns the drafts as they may be shown: unchanged if approved, otherwise without their definition. `publish` gets
   * the gateway's events about them.
   */
  judge(drafts: readonly Draft[], publish?: Publish): Draft[];
  /** Calls and awaits the listener after each change, by this process or another. Returns unsubscribe. */
  onChange(listener: () => Promise<void>): () => void;
  /** Resolves when all earlier changes, also by other processes, are in effect. */
  refresh(): Promise<void>;
}

/** Options of {@link createPins}. */
export interface PinsOptions {
  /** File for the approvals. Without it they end with the process. */
  readonly path?: string;
}

interface Judged {
  readonly route: string;
  readonly origin: Origin;
}

/**
 * Keeps the approvals of definitions from outside, in a file if a path is given. See {@link GatewayOptions}.
 *
 * @example
 * ```ts
 * import { createGateway, createPins } from "keyhole";
 *
 * const gateway = createGateway({ domains: [], pins: createPins({ path: "approvals.db" }) });
 * await gateway.close();
 * ```
 */
export function createPins({ path }: PinsOptions = {}): Pins {
  const storage = path === undefined ? createMemoryRecords() : openRecordFile(path);
  return createPinsOver(openGrantsNow(storage, "definition"));
}

/** With `strict`, calls fail while changes by other gateways cannot be read. */
export function createPinsOver(grants: Grants<"definition">, { strict = false } = {}): Pins {
  const judge = new PinJudge(grants);
  const isAskedAbout = (pin: Judged) => {
    const state = judge.stateOf(pin);
    return waits({ state }) || state === "reworded";
  };
  return {
    get damage() {
      return grants.damage;
    },
    judge: (drafts, tell = publish) => judge.judge(drafts, tell),
    list: () =>
      judge
        .select("all")
        .map((pin) => judge.toPin(pin))
        .sort((left, right) => (left.route < right.route ? -1 : 1)),
    diff: (route) => {
      const [pin] = judge.select({ route });
      return pin ? diffDefinitions(judge.approvalOf(pin)?.definition ?? {}, pin.origin.definition) : [];
    },
    approve: async (which) => {
      const approved = judge.select(which).filter((pin) => {
        if (isAskedAbout(pin)) return true;
        if (!namesDefinitions(which)) return false;
        const isOtherLane = "pins" in which && laneIn(which, pin.route) !== judge.markOf(pin);
        return isOtherLane || judge.stateOf(pin) === "rejected";
      });
      const changes = approved.flatMap(({ route, origin }) => [
        [keyOf(route, origin), toGrant(origin, laneIn(which, route))] as const,
        [rejectionKey(route, origin), undefined] as const,
      ]);
      await grants.change(new Map(changes));
      return approved.length;
    },
    reject: async (which) => {
      const rejected = judge.select(which).filter(isAskedAbout);
      // Rejecting a change keeps the approval of the earlier definition.
      const changes = rejected.map(
        ({ route, origin }) => [rejectionKey(route, origin), toGrant(origin, laneIn(which, route))] as const,
      );
      await grants.change(new Map(changes));
      return rejected.length;
    },
    revoke: (which) => {
      const keys = judge
        .select(which)
        .flatMap(({ route, origin }) => [keyOf(route, origin), rejectionKey(route, origin)]);
      return grants.change(revoked(keys));
    },
    onChange: grants.watch,
    refresh: async () => {
      if (judge.waitsForOthers) await (strict ? grants.catchUp() : grants.catchUp().catch(() => {}));
    },
  };
}

function toGrant({ hash, definition }: Origin, lane: Lane | undefined) {
  return { givenAt: Date.now(), hash, definition, ...(lane && { lane }) };
}

/** Judges the drafts of a catalog by a person's grants. */
class PinJudge {
  /** Whether a draft needs an approval that another gateway may give or revoke. */
  waitsForOthers = false;
  private readonly grants: Grants<"definition">;
  /** Lazy: a large catalog has many, and a start needs none. */
  private judged: () => ReadonlyMap<string, Judged> = () => new Map();
  private readonly masked = new WeakMap<Draft, EntryDraft>();
  private readonly marked = new WeakMap<Draft, { readonly lane: Lane; readonly draft: Draft }>();
  /** The last published rewording of each route. */
  private readonly announced = new Map<string, string>();

  constructor(grants: Grants<"definition">) {
    this.grants = grants;
  }

  judge(drafts: readonly Draft[], tell: Publish): Draft[] {
    this.judged = lazy(() => toJudged(drafts));
    this.waitsForOthers = false;
    const isAnyApproved = this.grants.entries().size > 0;
    return drafts.map((draft) => this.judgeOne(draft, isAnyApproved, tell));
  }

  select(which: PinSelection): Judged[] {
    if (which !== "all" && "route" in which) return [this.judged().get(which.route) ?? []].flat();
    return [...this.judged().values()].filter(({ route, origin }) => {
      if (which === "all") return true;
      if ("pins" in which) return which.pins.some((pin) => isSamePin(pin, route, origin));
      return origin.source === which.source;
    });
  }

  toPin(pin: Judged): Pin {
    const { route, origin } = pin;
    const { source, hash, program } = origin;
    const state = this.stateOf(pin);
    return { route, source, state, hash, program, injection: injectionOf(origin), lane: this.markOf(pin) };
  }

  /** Without any approval, skip the lookup for each of many tools. */
  stateOf({ route, origin }: Judged, isAnyApproved = true): PinState {
    const approval = isAnyApproved ? this.approvalOf({ route, origin }) : undefined;
    if (approval?.hash === origin.hash) return origin.trusted ? "trusted" : "approved";
    const rejection = isAnyApproved ? this.grants.get(rejectionKey(route, origin)) : undefined;
    if (rejection?.hash === origin.hash) return "rejected";
    if (origin.trusted) return injectionOf(origin).length === 0 ? "trusted" : "flagged";
    if (!approval) return "pending";
    return isReworded(approval.definition, origin) ? "reworded" : "changed";
  }

  approvalOf({ route, origin }: Judged) {
    return this.grants.get(keyOf(route, origin));
  }

  /** The person's lane for exactly this definition. A changed definition has none. */
  markOf(pin: Judged): Lane | undefined {
    const approval = this.approvalOf(pin);
    return approval?.hash === pin.origin.hash ? approval.lane : undefined;
  }

  private judgeOne(draft: Draft, isAnyApproved: boolean, tell: Publish): Draft {
    const { origin, route } = draft;
    if (!origin || route === undefined) return draft;
    this.waitsForOthers ||= !origin.trusted && origin.partOf === undefined;
    const state = this.stateOf({ route, origin }, isAnyApproved);
    if (state === "reworded") this.announce(route, origin, tell);
    if (USABLE.has(state))
      return isAnyApproved ? this.withMark(draft, this.markOf({ route, origin })) : draft;
    const cached = this.masked.get(draft);
    const typed = state === "rejected" ? "" : `; the user has to type: ${commandOf(route, origin)}`;
    const reason = `${REASONS[state as keyof typeof REASONS]}${typed}`;
    if (cached?.status?.reason === reason) return cached;
    const plain = "read" in draft ? draft.read() : draft;
    const visible = state === "rejected" ? ({ ...plain, visibility: "hidden" } as const) : plain;
    const masked = mask(visible, route, { state: "quarantined", reason });
    this.masked.set(draft, masked);
    return masked;
  }

  /** Publishes a change of wording once. */
  private announce(route: string, origin: Origin, tell: Publish): void {
    if (this.announced.get(route) === origin.hash) return;
    this.announced.set(route, origin.hash);
    const detail = `${route}: its description has changed; ${commandOf(route, origin)} shows how`;
    tell({ type: "notice", notice: "definition-reworded", detail });
  }

  /** Returns the same draft for the same lane each time, so that nothing is rebuilt. */
  private withMark(draft: Draft, lane: Lane | undefined): Draft {
    if (lane === undefined || draft.origin?.lane !== undefined) return draft;
    const before = this.marked.get(draft);
    if (before?.lane === lane) return before.draft;
    const after = { lane, draft: withLane(draft, lane) };
    this.marked.set(draft, after);
    return after.draft;
  }
}

function commandOf(route: string, { approvedBy }: Origin): string {
  return approvedBy ?? `keyhole approve ${domainOf(route)}`;
}

const injectionIn = memoizeByObject(findInjection);

/** Reads the definition only if its source has not checked it: lazy drafts read theirs on demand. */
function injectionOf(origin: Origin): readonly InjectionKind[] {
  return (origin.injection as readonly InjectionKind[] | undefined) ?? injectionIn(origin.definition);
}

/** Paths of descriptions. Other texts, such as defaults, change what a call does. */
const DESCRIPTION =
  /^(?:\/(?:inputSchema|outputSchema)(?:\/(?:properties|\$defs|definitions)\/[^/]+|\/items)*)?\/description$/;

/** Whether only descriptions differ, the source may change them, and none tries to steer a model. */
function isReworded(approved: Origin["definition"], origin: Origin): boolean {
  if (!origin.wordingOk || injectionOf(origin).length > 0) return false;
  return diffDefinitions(approved, origin.definition).every(
    ({ path, before = "", after = "" }) =>
      DESCRIPTION.test(path) && typeof before === "string" && typeof after === "string",
  );
}

/** Skips drafts with `partOf`: they share their parent's approval. */
function toJudged(drafts: readonly Draft[]): Map<string, Judged> {
  const judged = new Map<string, Judged>();
  for (const { route, origin } of drafts)
    if (origin && route !== undefined && origin.partOf === undefined) judged.set(route, { route, origin });
  return judged;
}

const REASONS = {
  pending: "its definition waits for a person's approval",
  changed: "its definition has changed since a person approved it",
  flagged: "its definition reads like instructions to a model",
  rejected: "a person has rejected its definition",
} as const;

/** Includes the program: another program under the same label has no approvals. */
function keyOf(route: string, origin: Origin): string {
  return JSON.stringify([origin.source, origin.partOf ?? route, origin.program]);
}

/** A rejection is a separate record: the approval of the earlier definition stays. */
function rejectionKey(route: string, origin: Origin): string {
  return JSON.stringify([origin.source, origin.partOf ?? route, origin.program, "rejected"]);
}

/** Whether a selection names single definitions. A whole server does not include rejected ones. */
function namesDefinitions(which: PinSelection): which is Exclude<PinSelection, "all"> {
  return which !== "all" && ("pins" in which || "route" in which);
}

function laneIn(which: PinSelection, route: string): Lane | undefined {
  return which !== "all" && "pins" in which ? which.pins.find((pin) => pin.route === route)?.lane : undefined;
}

function withLane(draft: Draft, lane: Lane): Draft {
  if (!("read" in draft)) return draft.kind === "tool" ? { ...draft, lane } : draft;
  const { kind, route, domain, name, phrases, visibility, status, origin } = draft;
  const digest = `${draft.digest} ${lane}`;
  const read = () => withLane(draft.read(), lane) as EntryDraft;
  return { kind, route, domain, name, phrases, visibility, status, origin, digest, read };
}

function isSamePin(pin: Pin, route: string, { hash, program }: Origin): boolean {
  return pin.route === route && pin.hash === hash && pin.program === program;
}

/** Keeps only the address: no model reads unapproved words. */
function mask(draft: EntryDraft, route: string, status: EntryStatus): EntryDraft {
  const { visibility, scopes } = draft;
  const blank = {
    ...BARE_ENTRY,
    ...{ visibility, scopes, route, status },
    name: route.split("/").at(-1) ?? route,
    description: "Waits for approval. Its definition is not shown until then.",
    inputSchema: { type: "object" },
  };
  const { content: _, category: __, parse: ___, presentation: ____, manifest: _____, ...rest } = draft;
  const { code: ______, ...shown } = rest as typeof rest & { readonly code?: string };
  return { ...shown, ...blank } as EntryDraft;
}
