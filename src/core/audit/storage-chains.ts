import { FOREVER_MS, type OpenStorage, type Storage, UNBOUNDED } from "../../base/util/storage.ts";
import type { GatewayGroup } from "../storage/idempotency.ts";
import type { AuditDriver, ChainWriter } from "./audit-log.ts";
import { type AuditChain, type AuditHead, type AuditLine, EMPTY, readAuditLine } from "./audit-store.ts";

/** A stored chain. Its lines are in parts: lists of batches, each named after its first record. */
interface StoredChain {
  /** The gateway that writes it. */
  readonly gateway: string;
  /** The head as last saved. Later lines may be stored already. */
  readonly head: AuditHead;
  readonly parts: readonly number[];
  /** Batches of the last part up to the head. */
  readonly batches: number;
}

const OWNER = "";
const OPTIONS = { all: UNBOUNDED, perOwner: UNBOUNDED, ttlMs: FOREVER_MS };
const LIMITS = { partRecords: 10_000, maxParts: 100 };

/** Audit chains in a storage, which several gateways may share. */
export class StorageChains implements AuditDriver {
  readonly chain: Storage<StoredChain>;
  readonly lines: Storage<readonly string[]>;
  readonly gateways: GatewayGroup;
  readonly limits: typeof LIMITS;
  private own: StorageChain | undefined;

  constructor(open: OpenStorage, gateways: GatewayGroup, limits = LIMITS) {
    this.limits = limits;
    this.chain = open("audit-chain", { ...OPTIONS, cached: 64 });
    this.lines = open("audit", { ...OPTIONS, fromText: readBatch });
    this.gateways = gateways;
  }

  /** Takes this gateway's chain, one whose gateway has ended, or a new one. */
  async open(): Promise<ChainWriter> {
    let taken = this.own && (await this.take(this.own.name));
    for (let number = 1; !taken; number += 1) taken = await this.take(String(number));
    this.own = taken;
    return taken;
  }

  async chains(): Promise<readonly AuditChain[]> {
    await this.own?.saving;
    const chains: AuditChain[] = [];
    for (let number = 1; ; number += 1) {
      const stored = await this.chain.get(String(number), OWNER);
      if (!stored) return chains;
      const { parts, head } = stored;
      const name = `chain ${number}`;
      chains.push({ name, head, lines: (from) => this.read(String(number), parts, from) });
    }
  }

  private async take(name: string): Promise<StorageChain | undefined> {
    const { id } = this.gateways;
    const fresh = { gateway: id, head: EMPTY, parts: [], batches: 0 };
    const current = (await this.chain.get(name, OWNER)) ?? fresh;
    if (current.gateway !== id && (await this.gateways.isRunning(current.gateway))) return undefined;
    await this.chain.put(name, OWNER, fresh);
    const stored = await this.chain.update(name, OWNER, (now) =>
      now.gateway === current.gateway ? { ...now, gateway: id } : now,
    );
    if (stored?.gateway !== id) return undefined;
    // The previous gateway may have ended between storing lines and their head.
    const later = await this.lines.list(keyOf(name, stored.parts.at(-1)), OWNER, stored.batches);
    const last = readAuditLine(later.at(-1)?.at(-1) ?? "");
    const head = last && last.seq > stored.head.seq ? { seq: last.seq, hash: last.hash } : stored.head;
    return new StorageChain(this, name, { ...stored, head, batches: stored.batches + later.length });
  }

  private async *read(name: string, parts: readonly number[], from = 1): AsyncGenerator<AuditLine, void> {
    for (const [at, first] of parts.entries()) {
      if ((parts[at + 1] ?? Number.POSITIVE_INFINITY) <= from) continue;
      const texts = (await this.lines.list(keyOf(name, first), OWNER)).flat();
      for (const [line, text] of texts.entries()) yield { text, place: `${name}:${first + line}` };
    }
  }
}

/** Appends only at the end that the writer knows, so that two writers of one chain cannot mix lines. */
class StorageChain implements ChainWriter {
  readonly name: string;
  readonly head: AuditHead;
  /** Resolves when the head is saved. No call waits for it: a head behind its lines is no damage. */
  saving: Promise<unknown> = Promise.resolve();
  private readonly driver: StorageChains;
  private state: StoredChain;
  private outdated: readonly number[] = [];

  constructor(driver: StorageChains, name: string, state: StoredChain) {
    this.driver = driver;
    this.name = name;
    this.head = state.head;
    this.state = state;
  }

  get keptFrom(): number {
    return this.state.parts[0]!;
  }

  turn(): boolean {
    const { partRecords, maxParts } = this.driver.limits;
    const next = this.state.head.seq + 1;
    const first = this.state.parts.at(-1);
    if (first !== undefined && next - first < partRecords) return false;
    const parts = [...this.state.parts, next];
    this.outdated = parts.slice(0, -maxParts);
    this.state = { ...this.state, parts: parts.slice(-maxParts), batches: 0 };
    return true;
  }

  async append(lines: readonly string[], head: AuditHead): Promise<boolean> {
    const { lines: stored } = this.driver;
    const { parts, batches } = this.state;
    const key = keyOf(this.name, parts.at(-1));
    // Save the part before its lines, so that the next writer finds them.
    if (batches === 0 && !(await this.save())) return false;
    const isAdded = batches === 0 ? stored.put(key, OWNER, lines) : stored.append(key, OWNER, batches, lines);
    if (!(await isAdded)) return false;
    this.state = { ...this.state, head, batches: batches + 1 };
    this.saving = this.save().catch(() => {});
    for (const first of this.outdated) await stored.update(keyOf(this.name, first), OWNER, () => undefined);
    this.outdated = [];
    return true;
  }

  async sync(): Promise<void> {}

  async close(): Promise<void> {
    await this.saving;
  }

  /** False if another gateway took the chain. */
  private async save(): Promise<boolean> {
    const { state } = this;
    const stored = await this.driver.chain.update(this.name, OWNER, (now) =>
      now.gateway === state.gateway ? state : now,
    );
    return stored?.gateway === state.gateway;
  }
}

function keyOf(chain: string, first = 0): string {
  return `${chain} ${first}`;
}

/** A damaged batch becomes one line, so that verification names it. */
function readBatch(text: string): readonly string[] {
  try {
    const lines: unknown = JSON.parse(text);
    return Array.isArray(lines) ? lines.map(String) : [text];
  } catch {
    return [text];
  }
}
