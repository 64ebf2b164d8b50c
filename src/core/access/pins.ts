import { z } from "zod";
import { findPoisonIn, type InjectionKind } from "../../base/safety/detect-injection.ts";
import { lazy } from "../../base/util/lazy.ts";
import { memoizeByObject } from "../../base/util/memoize-by-object.ts";
import { BARE_ENTRY } from "../nouns/bare-entry.ts";
import { type Draft, domainOf, type EntryDraft, type EntryStatus, type Origin } from "../nouns/entry.ts";
import { checkAfter } from "./check-after.ts";
import { type DefinitionChange, diffDefinitions } from "./diff-definitions.ts";
import { createRecordStore, type RecordStore } from "./record-store.ts";

/**
 * `pending`: never approved. `changed`: approved as something else. `trusted`: its source needs no approval.
 * `flagged`: its source needs none, but the definition tries to steer a model, so a person decides.
 */
export type PinState = "approved" | "pending" | "changed" | "trusted" | "flagged";

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
  /** Identifies the program or the address behind the source. */
  readonly program: string;
  /** The ways in which the definition tries to steer a model, as {@link findPoisonIn} finds them. */
  readonly poison: readonly InjectionKind[];
}

/** Selects all pins, those of a source, one, or those of a list exactly as they were listed. */
export type PinSelection =
  | "all"
  | { readonly source: string }
  | { readonly route: string }
  | { readonly pins: readonly Pin[] };

/** Approvals of definitions from outside. The same state decides about finding and calling. */
export interface Pins {
  /** Lists the pins of all judged entries in the order of their routes. */
  list(): readonly Pin[];
  /** Compares the definition with the approved one, or with an empty one where none was approved. */
  diff(route: string): readonly DefinitionChange[];
  /** Approves definitions exactly as they are now. Resolves to their number. */
  approve(which: PinSelection): Promise<number>;
  /** Revokes approvals. Resolves to their number. */
  revoke(which: PinSelection): Promise<number>;
  /** Set if the store was damaged, so that everything waits for approval again. */
  readonly damage: string | undefined;
  /** Returns the drafts as they may be shown: unchanged if approved, otherwise without their definition. */
  judge(drafts: readonly Draft[]): Draft[];
  /** Calls and awaits the listener after each change, also one by another process. Returns unsubscribe. */
  onChange(listener: () => Promise<void>): () => void;
  /**
   * Resolves when every change that was made before is in effect, also by other gateways. Absent if changes by
   * others are noticed only later.
   */
  refresh?(): Promise<void>;
}

/** Options of {@link createPins}. */
export interface PinsOptions {
  /** The file that keeps approvals. Without it they end with the process. */
  readonly path?: string;
  /** Writes a command that a person has to type, such as `["approve", "files"]`. Default: `keyhole approve files`. */
  readonly commandFor?: (words: readonly string[]) => string;
}

interface Judged {
  readonly route: string;
  readonly origin: Origin;
}

export const approvalSchema = z.object({
  hash: z.string(),
  definition: z.record(z.string(), z.unknown()),
  /** Milliseconds since 1970. */
  approvedAt: z.number(),
});

/** Approved definitions by program and route. */
type PinStore = RecordStore<z.infer<typeof approvalSchema>>;

/** Keeps approvals in a file if a path is given. */
export function createPinStore(path?: string): PinStore {
  return createRecordStore({ path, record: approvalSchema, counted: "approved" });
}

/** How often changes by other processes are looked for. */
const FOLLOW_MS = 500;

interface PinsFollower extends Pick<PinsOptions, "commandFor"> {
  /** Other processes may change the store. */
  readonly shared: boolean;
  /** Calls wait until changes by other gateways are in effect. */
  readonly strict: boolean;
}

/**
 * Keeps the approvals of definitions from outside, in a file if a path is given. See {@link GatewayOptions}.
 *
 * @example
 * ```ts
 * import { createGateway, createPins } from "keyhole";
 *
 * const gateway = createGateway({ domains: [], pins: createPins({ path: "pins.json" }) });
 * await gateway.close();
 * ```
 */
export function createPins({ path, ...options }: PinsOptions = {}): Pins {
  return createPinsOver(createPinStore(path), { shared: path !== undefined, strict: false, ...options });
}

export function createPinsOver(
  store: PinStore,
  { shared, strict, commandFor = (words) => ["keyhole", ...words].join(" ") }: PinsFollower,
): Pins {
  /** Lazy: a large catalog has many, and a start needs none of them. */
  let judged: () => ReadonlyMap<string, Judged> = () => new Map();
  let waitsForOthers = false;
  const masked = new WeakMap<Draft, EntryDraft>();
  const listeners = new Set<() => Promise<void>>();
  let following: NodeJS.Timeout | undefined;

  /** Polls, because not every file system reports changes. */
  function follow(): void {
    if (!shared || following) return;
    // A failure to look is reported by the calls that need an answer.
    following = setInterval(() => void look().catch(() => {}), FOLLOW_MS).unref();
  }

  async function refresh(): Promise<void> {
    if (await store.refresh()) await tell();
  }
  // Two refreshes at once could let a caller pass while listeners still handle a change.
  const look = checkAfter(refresh);

  async function tell(): Promise<void> {
    await Promise.all([...listeners].map((listener) => listener()));
  }

  /** Without approvals nothing is looked up, which takes time for each of many tools. */
  function stateOf({ route, origin }: Judged, isAnyApproved = true): PinState {
    const approval = isAnyApproved ? approvalOf({ route, origin }) : undefined;
    if (approval?.hash === origin.hash) return origin.trusted ? "trusted" : "approved";
    if (origin.trusted) return poisonOf(origin).length === 0 ? "trusted" : "flagged";
    return approval ? "changed" : "pending";
  }

  function approvalOf({ route, origin }: Judged) {
    return store.get(keyOf(route, origin));
  }

  function select(which: PinSelection): Judged[] {
    return [...judged().values()].filter(({ route, origin }) => {
      if (which === "all") return true;
      if ("pins" in which) return which.pins.some((pin) => isSamePin(pin, route, origin));
      return "source" in which ? origin.source === which.source : route === which.route;
    });
  }

  async function change(
    which: PinSelection,
    counts: (pin: Judged) => boolean,
    approve: boolean,
  ): Promise<number> {
    const selected = select(which).filter(counts);
    const approvedAt = Date.now();
    const changes = selected.map(({ route, origin }) => {
      const approval = { hash: origin.hash, definition: origin.definition, approvedAt };
      return [keyOf(route, origin), approve ? approval : undefined] as const;
    });
    try {
      await store.change(new Map(changes));
    } finally {
      await tell();
    }
    return selected.length;
  }

  function judgeOne(draft: Draft, isAnyApproved: boolean): Draft {
    const { origin, route } = draft;
    if (!origin || route === undefined) return draft;
    waitsForOthers ||= !origin.trusted && origin.partOf === undefined;
    const state = stateOf({ route, origin }, isAnyApproved);
    if (state === "trusted" || state === "approved") return draft;
    const known = masked.get(draft);
    const reason = `${REASONS[state]}; the user has to type: ${commandFor(["approve", domainOf(route)])}`;
    if (known?.status?.reason === reason) return known;
    const made = mask("read" in draft ? draft.read() : draft, route, { state: "quarantined", reason });
    masked.set(draft, made);
    return made;
  }

  return {
    get damage() {
      return store.damage;
    },
    judge: (drafts) => {
      judged = lazy(() => toJudged(drafts));
      waitsForOthers = false;
      const isAnyApproved = store.keys().length > 0;
      return drafts.map((draft) => judgeOne(draft, isAnyApproved));
    },
    list: () =>
      [...judged().values()]
        .map((pin) => ({
          route: pin.route,
          source: pin.origin.source,
          state: stateOf(pin),
          hash: pin.origin.hash,
          program: pin.origin.program,
          poison: poisonOf(pin.origin),
        }))
        .sort((left, right) => (left.route < right.route ? -1 : 1)),
    diff: (route) => {
      const pin = judged().get(route);
      return pin ? diffDefinitions(approvalOf(pin)?.definition ?? {}, pin.origin.definition) : [];
    },
    approve: (which) => change(which, (pin) => waits({ state: stateOf(pin) }), true),
    revoke: (which) => change(which, (pin) => approvalOf(pin) !== undefined, false),
    ...(strict && { refresh: async () => void (waitsForOthers && (await look())) }),
    onChange: (listener) => {
      listeners.add(listener);
      follow();
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        clearInterval(following);
        following = undefined;
      };
    },
  };
}

const poisonIn = memoizeByObject(findPoisonIn);

/** Reads the definition only if its source has not looked: lazy drafts read theirs on demand. */
function poisonOf(origin: Origin): readonly InjectionKind[] {
  return (origin.poison as readonly InjectionKind[] | undefined) ?? poisonIn(origin.definition);
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
} as const;

/** Bound to the program, so that another one under the same label has no approvals. */
function keyOf(route: string, origin: Origin): string {
  return JSON.stringify([origin.source, origin.partOf ?? route, origin.program]);
}

function isSamePin(pin: Pin, route: string, { hash, program }: Origin): boolean {
  return pin.route === route && pin.hash === hash && pin.program === program;
}

/** Keeps only the address: unapproved words reach no model. */
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
