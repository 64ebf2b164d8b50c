import { endianness } from "node:os";
import { writeFileAtomic } from "../base/util/write-file-atomic.ts";
import { type Facet, HashBits, type Segment, StringTable } from "./lexical/segment.ts";
import {
  type OpenedSnapshot,
  readSections,
  type Sections,
  type SnapshotSection,
  toSections,
} from "./snapshot-file.ts";
import { strideOf } from "./vectors/dot-block.ts";
import { prepareVectorStore, type VectorContents, type VectorStore } from "./vectors/vector-store.ts";

export type { OpenedSnapshot as Opened };

export interface Snapshot {
  readonly segment: Segment;
  /** In the words of who saved it. */
  readonly note: string;
}

/** The vectors of the segment's documents, in their order. */
export interface SavedVectors extends VectorContents {
  readonly embedder: string;
}

export interface ReadSnapshot extends Snapshot {
  readonly vectors?: { readonly embedder: string; readonly store: VectorStore };
}

/** The facts of a snapshot that its sections do not hold. */
interface Header {
  readonly wideIds: boolean;
  readonly wideTerms: boolean;
  readonly facets: readonly Facet[];
  readonly note: string;
  readonly vectors?: { readonly embedder: string; readonly dimensions: number };
}

/** Writes the snapshot whole: a reader sees the old file or the new one. */
export function writeSnapshot(path: string, snapshot: Snapshot, vectors?: SavedVectors): Promise<void> {
  const { segment, note } = snapshot;
  const header: Header = {
    wideIds: segment.ids.units.BYTES_PER_ELEMENT === 2,
    wideTerms: segment.terms.units.BYTES_PER_ELEMENT === 2,
    facets: segment.facets,
    note,
    ...(vectors && { vectors: { embedder: vectors.embedder, dimensions: vectors.dimensions } }),
  };
  const parts: Record<string, ArrayBufferView> = {
    idUnits: segment.ids.units,
    idOffsets: segment.ids.offsets,
    termUnits: segment.terms.units,
    termOffsets: segment.terms.offsets,
    starts: segment.starts,
    documents: segment.documents,
    impacts: segment.impacts,
    fields: segment.fields,
    maxImpacts: segment.maxImpacts,
    names: segment.names.words,
    facetOf: segment.facetOf,
    ...(vectors && { vectorScales: vectors.scales, vectorRows: vectors.rows }),
    ...(vectors?.codes && {
      codeOrder: vectors.codes.order,
      codeCentres: vectors.codes.centres,
      codes: vectors.codes.bytes,
    }),
  };
  return writeFileAtomic(path, toSections(header, parts));
}

/** Reads a snapshot without analysing anything again; says why where it cannot be used. */
export async function readSnapshot(path: string): Promise<OpenedSnapshot<ReadSnapshot>> {
  if (endianness() !== "LE") return refused("it is for little-endian machines");
  let prepared: ReturnType<typeof prepareVectorStore> | undefined;
  // Vectors are read straight into the memory of the kernel.
  const place: SnapshotSection<Header> = (name, length, { vectors }) => {
    if (name !== "vectorRows" || vectors === undefined) return undefined;
    prepared = prepareVectorStore(vectors.dimensions, length / strideOf(vectors.dimensions));
    return new Uint8Array(prepared.rows.buffer, prepared.rows.byteOffset, length);
  };
  try {
    const read = await readSections<Header>(path, place);
    if (!read.ok) return refused(read.reason);
    const { header, sections } = read.value;
    const segment = toSegment(header, sections);
    const { note, vectors } = header;
    if (vectors === undefined || prepared === undefined) return { ok: true, value: { segment, note } };
    const store = prepared.finish(segment.ids, {
      scales: sections.floats("vectorScales"),
      ...(sections.has("codes") && {
        codes: {
          order: sections.shorts("codeOrder"),
          centres: sections.floats("codeCentres"),
          bytes: sections.bytes("codes"),
        },
      }),
    });
    return { ok: true, value: { segment, note, vectors: { embedder: vectors.embedder, store } } };
  } catch {
    return refused("its parts do not fit together");
  }
}

function toSegment(header: Header, sections: Sections): Segment {
  const { bytes, shorts, words } = sections;
  return {
    ids: new StringTable(header.wideIds ? shorts("idUnits") : bytes("idUnits"), words("idOffsets")),
    terms: new StringTable(header.wideTerms ? shorts("termUnits") : bytes("termUnits"), words("termOffsets")),
    starts: words("starts"),
    documents: words("documents"),
    impacts: shorts("impacts"),
    fields: bytes("fields"),
    maxImpacts: shorts("maxImpacts"),
    names: new HashBits(words("names")),
    facets: header.facets,
    facetOf: words("facetOf"),
  };
}

function refused(reason: string): { ok: false; reason: string } {
  return { ok: false, reason: `The search snapshot is not used: ${reason}.` };
}
