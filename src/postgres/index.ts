export type { PostgresIndex, PostgresIndexOptions } from "./search/postgres-index.ts";
export { createPostgresIndex } from "./search/postgres-index.ts";
export type { PostgresState, PostgresStateOptions } from "./state/open-postgres-state.ts";
export { createPostgresState } from "./state/postgres-state.ts";
export type { TypesenseIndexOptions } from "./typesense/typesense-index.ts";
export { createTypesenseIndex } from "./typesense/typesense-index.ts";
