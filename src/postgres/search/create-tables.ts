import type { IndexTables, TableNames } from "./index-tables.ts";
import { BLOCK_BITS, BLOCK_MASK, IMPACT_BITS } from "./posting-blocks.ts";

/**
 * Creates missing tables and functions in one statement, and so in one transaction. Concurrent creators wait for each
 * other. Writes use functions, because a pool offers no transaction of several statements.
 */
export async function createTables({ names, query }: IndexTables): Promise<void> {
  await query(`do $create$
begin
  perform pg_advisory_xact_lock(hashtextextended('${names.documents}', 0));
  ${tables(names)}
  ${forgetFunction(names)}
  ${packFunction(names)}
  ${putFunction(names)}
  ${dropFunction(names)}
  ${askFunction(names)}
exception when duplicate_table then
  null; -- All of it is there: it was made in one transaction.
end
$create$`);
}

/** Creates the table of vectors. Needs the type of the extension. */
export async function createVectorTable({ names, query }: IndexTables): Promise<void> {
  const { vectors, documents, putVectorsFunction } = names;
  await query(`do $create$
begin
  perform pg_advisory_xact_lock(hashtextextended('${documents}', 0));
  create table ${vectors} (
    document bigint not null references ${documents} (number) on delete cascade,
    embedder text not null,
    text_hash text not null,
    embedding vector not null,
    primary key (embedder, document)
  );
  create index on ${vectors} (document);
  create function ${putVectorsFunction}(model text, ids text[], hashes text[], embeddings text[])
  returns void language plpgsql as $put$
  begin
    perform pg_advisory_xact_lock(hashtextextended('${documents}', 1));
    insert into ${vectors} (document, embedder, text_hash, embedding)
      select d.number, model, m.hash, m.embedding::vector
      from unnest(ids, hashes, embeddings) as m(id, hash, embedding) join ${documents} d on d.id = m.id
      on conflict (embedder, document) do update
        set text_hash = excluded.text_hash, embedding = excluded.embedding;
  end
  $put$;
exception when duplicate_table then
  null;
end
$create$`);
}

/**
 * Documents store their terms too, to find their postings when they change or go. Words are counted separately for each
 * set of scopes, so that they can be weighed by the documents that a caller may see.
 */
function tables({ documents, postings, blocks, terms, state }: TableNames): string {
  return `
  create table ${documents} (
    number bigint generated always as identity unique,
    id text collate "C" primary key,
    kind text not null,
    domain text not null,
    category text not null,
    tags text[] not null,
    scopes text[] not null,
    terms text[] not null,
    hash text not null
  );
  create table ${postings} (
    term text collate "C" not null,
    document bigint not null,
    impact int not null,
    primary key (term, document) include (impact)
  );
  create table ${blocks} (
    term text collate "C" not null,
    block bigint not null,
    packed bytea not null,
    primary key (term, block)
  );
  create table ${terms} (
    term text collate "C" not null,
    scopes text[] not null,
    documents int not null,
    length smallint not null,
    letters int not null,
    primary key (term, scopes)
  );
  create index on ${terms} (length, letters, term) where length > 0;
  create table ${state} (scopes text[] primary key, documents bigint not null);`;
}

/** Takes the lock first: writers wait for each other and see everything committed. The transaction releases it. */
function putFunction({
  putFunction,
  forgetFunction,
  packFunction,
  documents,
  postings,
  terms,
  state,
}: TableNames): string {
  return `
  create function ${putFunction}(rows jsonb, dictionary jsonb) returns void language plpgsql as $put$
  declare
    ids text[] := array(select r->>'id' from jsonb_array_elements(rows) as r);
    old_places jsonb;
  begin
    perform pg_advisory_xact_lock(hashtextextended('${documents}', 1));
    old_places := ${forgetFunction}(ids);
    insert into ${documents} as d (id, kind, domain, category, tags, scopes, terms, hash)
      select r.id, r.kind, r.domain, r.category, r.tags, r.scopes, r.terms, r.hash
      from jsonb_to_recordset(rows) as r(id text, kind text, domain text, category text,
        tags text[], scopes text[], terms text[], hash text)
      order by r.id collate "C"
      on conflict (id) do update set kind = excluded.kind, domain = excluded.domain,
        category = excluded.category, tags = excluded.tags, scopes = excluded.scopes,
        terms = excluded.terms, hash = excluded.hash;
    insert into ${postings} (term, document, impact)
      select p.term, d.number, p.impact
      from jsonb_to_recordset(rows) as r(id text, terms text[], impacts int[])
      join ${documents} d on d.id = r.id
      cross join lateral unnest(r.terms, r.impacts) as p(term, impact);
    perform ${packFunction}(old_places);
    perform ${packFunction}((
      select jsonb_agg(distinct jsonb_build_array(t.term, d.number >> ${BLOCK_BITS}))
      from ${documents} d cross join lateral unnest(d.terms) as t(term) where d.id = any(ids)
    ));
    insert into ${terms} as known (term, scopes, documents, length, letters)
      select t.term, t.scopes, t.documents, t.length, t.letters
      from jsonb_to_recordset(dictionary)
        as t(term text, scopes text[], documents int, length smallint, letters int)
      on conflict (term, scopes) do update set documents = known.documents + excluded.documents;
    insert into ${state} as known
      select r.scopes, count(*) from jsonb_to_recordset(rows) as r(scopes text[]) group by r.scopes
      on conflict (scopes) do update set documents = known.documents + excluded.documents;
  end
  $put$;`;
}

function dropFunction({ dropFunction, forgetFunction, packFunction, documents }: TableNames): string {
  return `
  create function ${dropFunction}(ids text[]) returns void language plpgsql as $drop$
  begin
    perform pg_advisory_xact_lock(hashtextextended('${documents}', 1));
    perform ${packFunction}(${forgetFunction}(ids));
    delete from ${documents} where id = any(ids);
  end
  $drop$;`;
}

/**
 * Repacks the postings of terms in blocks of documents: one value for each, four bytes a posting, because reading
 * thousands of rows would take most of a search. `places` are pairs of a term and a block.
 */
function packFunction({ packFunction, postings, blocks }: TableNames): string {
  return `
  create function ${packFunction}(places jsonb) returns void language sql as $pack$
    delete from ${blocks} b using jsonb_array_elements(places) as place
      where b.term = place->>0 and b.block = (place->>1)::bigint;
    insert into ${blocks} (term, block, packed)
      select p.term, p.document >> ${BLOCK_BITS},
        string_agg(int4send((((p.document & ${BLOCK_MASK}) << ${IMPACT_BITS}) | p.impact)::int), '' order by p.document)
      from jsonb_array_elements(places) as place join ${postings} p
        on p.term = place->>0 and p.document >= (place->>1)::bigint << ${BLOCK_BITS}
        and p.document <= ((place->>1)::bigint << ${BLOCK_BITS}) + ${BLOCK_MASK}
      group by p.term, p.document >> ${BLOCK_BITS};
  $pack$;`;
}

/** Deletes the words of documents, and the documents from the counts. Returns the places to repack. */
function forgetFunction({ forgetFunction, documents, postings, terms, state }: TableNames): string {
  return `
  create function ${forgetFunction}(ids text[]) returns jsonb language plpgsql as $forget$
  declare
    places jsonb;
  begin
    select jsonb_agg(distinct jsonb_build_array(t.term, d.number >> ${BLOCK_BITS})) into places
      from ${documents} d cross join lateral unnest(d.terms) as t(term) where d.id = any(ids);
    if places is null then
      return null;
    end if;
    update ${state} known set documents = known.documents - gone.times
      from (select d.scopes, count(*) as times from ${documents} d where d.id = any(ids) group by d.scopes) gone
      where known.scopes = gone.scopes;
    delete from ${state} where documents = 0;
    delete from ${postings} p
      using ${documents} d cross join lateral unnest(d.terms) as t(term)
      where d.id = any(ids) and p.term = t.term and p.document = d.number;
    update ${terms} known set documents = known.documents - gone.times
      from (
        select t.term, d.scopes, count(*)::int as times
        from ${documents} d cross join lateral unnest(d.terms) as t(term)
        where d.id = any(ids) group by t.term, d.scopes
      ) gone
      where known.term = gone.term and known.scopes = gone.scopes;
    delete from ${terms} known
      using (select distinct unnest(d.terms) as term from ${documents} d where d.id = any(ids)) gone
      where known.term = gone.term and known.documents = 0;
    return places;
  end
  $forget$;`;
}

/**
 * Returns all data that a search by words needs of terms, for a caller with these scopes: how many documents there are
 * and how many the caller sees (a row without term), how many of those have each term, the postings of the terms, and
 * the spellings of names. One round trip. A function keeps its plans, which take longer than the look-ups.
 */
function askFunction({ askFunction, documents, postings, blocks, terms, state }: TableNames): string {
  return `
  create function ${askFunction}(wanted text[], wanted_names text[], held text[])
  returns table (term text, documents int, spelling int, block_numbers int[], lengths int[], packed bytea)
  language plpgsql stable as $ask$
  declare
    seen int;
    total int;
  begin
    select coalesce(sum(s.documents) filter (where s.scopes <@ held), 0), coalesce(sum(s.documents), 0)
      into seen, total from ${state} s;
    return query select null::text, seen, total, null::int[], null::int[], null::bytea;
    return query
      select t.term::text, sum(t.documents)::int, null::int, null::int[], null::int[], null::bytea
      from ${terms} t where t.term = any(wanted) and t.scopes <@ held group by t.term;
    return query
      select b.term::text, null::int, null::int, array_agg(b.block::int order by b.block),
        array_agg(length(b.packed) order by b.block), string_agg(b.packed, '' order by b.block)
      from ${blocks} b where b.term = any(wanted) group by b.term;
    if seen < total then
      return query
        select distinct p.term::text, null::int, p.impact, null::int[], null::int[], null::bytea
        from ${postings} p join ${documents} d on d.number = p.document
        where p.term = any(wanted_names) and d.scopes <@ held;
    end if;
  end
  $ask$;`;
}
