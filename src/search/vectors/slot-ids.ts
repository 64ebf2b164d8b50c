import { hasBit, lengthened, type StringTable } from "../lexical/segment.ts";

/** The ids of numbered slots. A saved table of ids is used without a copy; maps hold only later changes. */
export class SlotIds {
  /** One more than the highest slot in use. */
  slots = 0;
  size = 0;
  private readonly saved: StringTable | undefined;
  private taken = new Uint32Array(2);
  /** Ids of slots whose id differs from the saved one. */
  private readonly names: (string | undefined)[] = [];
  private readonly slotByName = new Map<string, number>();
  private readonly free: number[] = [];

  /** If `has(i)`, slot `i` has the id `i` of the table. */
  constructor(saved?: StringTable, has: (slot: number) => boolean = () => true) {
    this.saved = saved;
    if (saved === undefined) return;
    this.slots = saved.size;
    this.taken = new Uint32Array(Math.ceil(saved.size / 32));
    for (let slot = saved.size - 1; slot >= 0; slot--) {
      if (has(slot)) this.take(slot);
      else this.free.push(slot);
    }
  }

  has(slot: number): boolean {
    return hasBit(this.taken, slot);
  }

  idOf(slot: number): string | undefined {
    if (!this.has(slot)) return undefined;
    return this.names[slot] ?? this.saved!.get(slot);
  }

  slotOf(id: string): number | undefined {
    const named = this.slotByName.get(id);
    if (named !== undefined || this.saved === undefined) return named;
    const slot = this.saved.find(id);
    return slot >= 0 && this.has(slot) && this.names[slot] === undefined ? slot : undefined;
  }

  /** Assigns a slot to a new id. */
  claim(id: string): number {
    const slot = this.free.pop() ?? this.slots++;
    if (slot >= this.taken.length * 32) this.taken = lengthened(this.taken, this.taken.length * 2);
    this.take(slot);
    this.names[slot] = id;
    this.slotByName.set(id, slot);
    return slot;
  }

  /** Frees the slot of an id and returns its number. */
  release(id: string): number | undefined {
    const slot = this.slotOf(id);
    if (slot === undefined) return undefined;
    this.slotByName.delete(id);
    this.names[slot] = undefined;
    this.taken[slot >>> 5]! &= ~(1 << (slot & 31));
    this.free.push(slot);
    this.size--;
    return slot;
  }

  private take(slot: number): void {
    this.taken[slot >>> 5]! |= 1 << (slot & 31);
    this.size++;
  }
}
