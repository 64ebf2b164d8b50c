import { quotedNames } from "../quoted-names.ts";

/** Increases when the tables, their functions or the text analysis change. Versions live side by side. */
const VERSION = 6;

/** The names of an index's tables and functions. Safe to put into SQL. */
export interface TableNames {
  readonly documents: string;
  readonly postings: string;
  readonly blocks: string;
  readonly terms: string;
  readonly state: string;
  readonly vectors: string;
  readonly putFunction: string;
  readonly dropFunction: string;
  readonly forgetFunction: string;
  readonly packFunction: string;
  readonly askFunction: string;
  readonly putVectorsFunction: string;
}

/**
 * Derives the names from a prefix.
 *
 * @throws `INVALID_INPUT` if the prefix is not a plain identifier, with or without a schema.
 */
export function tableNames(table: string): TableNames {
  const nameOf = quotedNames(table, "createPostgresIndex");
  const quoted = (suffix: string) => nameOf(`_v${VERSION}${suffix}`);
  return {
    documents: quoted(""),
    postings: quoted("_postings"),
    blocks: quoted("_blocks"),
    terms: quoted("_terms"),
    state: quoted("_state"),
    vectors: quoted("_vectors"),
    putFunction: quoted("_put"),
    dropFunction: quoted("_drop"),
    forgetFunction: quoted("_forget"),
    packFunction: quoted("_pack"),
    askFunction: quoted("_ask"),
    putVectorsFunction: quoted("_put_vectors"),
  };
}
