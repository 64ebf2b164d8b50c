export type { EmbeddedIndex, EmbeddedIndexOptions } from "./embedded-index.ts";
export { createEmbeddedIndex } from "./embedded-index.ts";
export type {
  SearchDocument,
  SearchHit,
  SearchIndex,
  SearchRequest,
  SearchStatus,
} from "./port/search-index.ts";
export type { CachedEmbedder, VectorCacheOptions } from "./vectors/cached-embedder.ts";
export { createCachedEmbedder } from "./vectors/cached-embedder.ts";
export type { Embedder } from "./vectors/embedder.ts";
export type { HttpEmbedderOptions } from "./vectors/http-embedder.ts";
export { createHttpEmbedder } from "./vectors/http-embedder.ts";
export type { StaticEmbedder } from "./vectors/static-embedder.ts";
export { createStaticEmbedder } from "./vectors/static-embedder.ts";
