/** How a domain's entries are searched: by which fields and weights, and in which segments they are shown. */
export interface SearchConfig {
  /** Comma-separated field names, such as `description,name,content`. See {@link QUERY_FIELDS}. */
  readonly queryBy?: string;
  /** Comma-separated weights, one for each field of `queryBy`. */
  readonly weights?: string;
  readonly segments?: readonly SearchSegment[];
}

/** A part of a domain's hits that is searched and listed separately. */
export interface SearchSegment {
  readonly name: string;
  /** `key:=value` over an entry's metadata, such as `resource_type:=column`. */
  readonly filter: string;
  readonly limit: number;
  /** Lower numbers come first. */
  readonly priority: number;
}

/** Fields that `queryBy` can name. */
export const QUERY_FIELDS = ["name", "description", "parameters", "domain", "content"] as const;

/** Metadata of every document of a content pipeline, for filters of segments. */
export const FACT_KEYS = ["resource_type", "path_segment", "source_id"] as const;

/** A metadata field and its required value. */
export interface SegmentFilter {
  readonly key: string;
  readonly value: string;
}

/** Parses a segment's filter. Undefined if it is not of the form `key:=value`. */
export function readSegmentFilter(filter: string): SegmentFilter | undefined {
  const [, key, value] = /^\s*([\w.-]+)\s*:=\s*([^\s&|[\]()`]+)\s*$/u.exec(filter) ?? [];
  return key === undefined || value === undefined ? undefined : { key, value };
}

/** The search tag of an entry with this metadata. */
export function segmentTag(key: string, value: unknown): string {
  return `${key}:=${value}`;
}

/** Splits a comma-separated list. */
export function readNames(list: string | undefined): string[] {
  return list === undefined ? [] : list.split(",").map((name) => name.trim());
}
