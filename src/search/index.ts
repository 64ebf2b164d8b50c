export type { EmbeddedIndex, EmbeddedIndexOptions } from "./embedded-index.ts";
export { createEmbeddedIndex, openEmbeddedIndex } from "./embedded-index.ts";
export type {
  Explanation,
  SearchDocument,
  SearchField,
  SearchFilter,
  SearchHit,
  SearchIndex,
  SearchRequest,
  SearchStatus,
  TermScore,
} from "./port/search-index.ts";
export type { PostgresClient } from "./postgres/postgres-client.ts";
export type { PostgresIndex, PostgresIndexOptions } from "./postgres/postgres-index.ts";
export { createPostgresIndex } from "./postgres/postgres-index.ts";
export { createTypesenseIndex } from "./typesense/typesense-index.ts";
export { cachedEmbedder } from "./vectors/cached-embedder.ts";
export type { Embedder } from "./vectors/embedder.ts";
export type { HttpEmbedderOptions } from "./vectors/http-embedder.ts";
export { createHttpEmbedder } from "./vectors/http-embedder.ts";
export { createMiniLmEmbedder } from "./vectors/minilm-embedder.ts";
export type { StaticEmbedder } from "./vectors/static-embedder.ts";
export { createStaticEmbedder } from "./vectors/static-embedder.ts";
export type { VectorCache } from "./vectors/vector-cache.ts";
export { createVectorCache } from "./vectors/vector-cache.ts";
