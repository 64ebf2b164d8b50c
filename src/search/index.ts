export type { EmbeddedIndex, EmbeddedIndexOptions } from "./embedded-index.ts";
export { createEmbeddedIndex } from "./embedded-index.ts";
export type { LearningOptions } from "./learning/learning.ts";
export type { Forgotten, LearningEvent } from "./learning/learning-log.ts";
export type { UnmetQuery } from "./learning/learning-state.ts";
export type {
  SearchDocument,
  SearchHit,
  SearchIndex,
  SearchNote,
  SearchRequest,
  SearchStatus,
  Visibility,
} from "./port/search-index.ts";
export type { CachedEmbedder, VectorCacheOptions } from "./vectors/cached-embedder.ts";
export { createCachedEmbedder } from "./vectors/cached-embedder.ts";
export type { Embedder, ForeignQuery } from "./vectors/embedder.ts";
export type { HttpEmbedderOptions } from "./vectors/http-embedder.ts";
export { createHttpEmbedder } from "./vectors/http-embedder.ts";
export type { StaticEmbedder } from "./vectors/static-embedder.ts";
export { createStaticEmbedder } from "./vectors/static-embedder.ts";
export type { StaticTable } from "./vectors/static-table.ts";
