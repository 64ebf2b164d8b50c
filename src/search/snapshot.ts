import { endianness } from "node:os";
import { writeFileAtomic } from "../base/util/write-file-atomic.ts";
import { type Facet, fromParts, type Segment, type SegmentParts, toParts } from "./lexical/segment.ts";
import { type OpenedSnapshot, readSections, toSections } from "./snapshot-file.ts";
import { strideOf } from "./vectors/dot-block.ts";
import { prepareVectorStore, type VectorContents, type VectorStore } from "./vectors/vector-store.ts";

export interface Snapshot {
  readonly segment: Segment;
  /** Text of the program that saved it. */
  readonly note: string;
}

/** The vectors of the segment's documents, in order. */
export interface SavedVectors extends VectorContents {
  readonly embedder: string;
}

export interface ReadSnapshot extends Snapshot {
  readonly vectors?: { readonly embedder: string; readonly store: VectorStore };
}

/** The data of a snapshot that is not in its arrays. */
interface Header {
  readonly facets: readonly Facet[];
  readonly note: string;
  readonly vectors?: { readonly embedder: string; readonly dimensions: number };
}

/** Arrays besides those of the segment. */
interface VectorParts {
  readonly vectorScales: Float32Array;
  readonly vectorRows: Int8Array;
  readonly codeOrder?: Uint16Array;
  readonly codeCentres?: Float32Array;
  readonly codes?: Uint8Array;
}

/** Writes the snapshot atomically: readers see the old file or the new one. */
export function writeSnapshot(path: string, snapshot: Snapshot, vectors?: SavedVectors): Promise<void> {
  const { segment, note } = snapshot;
  const { facets, ...parts } = toParts(segment);
  const header: Header = {
    facets,
    note,
    ...(vectors && { vectors: { embedder: vectors.embedder, dimensions: vectors.dimensions } }),
  };
  const { codes } = vectors ?? {};
  const vectorParts: VectorParts | undefined = vectors && {
    vectorScales: vectors.scales,
    vectorRows: vectors.rows,
    ...(codes && { codeOrder: codes.order, codeCentres: codes.centres, codes: codes.bytes }),
  };
  return writeFileAtomic(path, toSections(header, { ...parts, ...vectorParts }));
}

/** Reads a snapshot without any new analysis. Returns the reason if it is unusable. */
export async function readSnapshot(path: string): Promise<OpenedSnapshot<ReadSnapshot>> {
  if (endianness() !== "LE") return refused("it is for little-endian machines");
  let prepared: ReturnType<typeof prepareVectorStore> | undefined;
  try {
    const read = await readSections<Header>(path, (name, length, { vectors }) => {
      if (name !== "vectorRows" || vectors === undefined) return undefined;
      // Vectors are read straight into the memory of the kernel.
      prepared = prepareVectorStore(vectors.dimensions, length / strideOf(vectors.dimensions));
      return new Uint8Array(prepared.rows.buffer, prepared.rows.byteOffset, length);
    });
    if (!read.ok) return refused(read.reason);
    const { note, facets, vectors } = read.value.header;
    const { vectorScales, vectorRows, codeOrder, codeCentres, codes, ...parts } = read.value
      .parts as unknown as Omit<SegmentParts, "facets"> & VectorParts;
    const segment = fromParts({ facets, ...parts });
    if (vectors === undefined || prepared === undefined) return { ok: true, value: { segment, note } };
    const saved = codes && { order: codeOrder!, centres: codeCentres!, bytes: codes };
    const store = prepared.finish(segment.ids, { scales: vectorScales, ...(saved && { codes: saved }) });
    return { ok: true, value: { segment, note, vectors: { embedder: vectors.embedder, store } } };
  } catch {
    return refused("its parts do not fit together");
  }
}

function refused(reason: string): { ok: false; reason: string } {
  return { ok: false, reason: `The search snapshot is not used: ${reason}.` };
}
