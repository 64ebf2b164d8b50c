/** A document as its source lists it. */
export interface RawDocument {
  readonly id: string;
  readonly name: string;
  readonly contentType: string;
  /** Changes with the content (a hash, an ETag, a time). A document whose version is known is not fetched again. */
  readonly version?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** A document with its content. */
export interface RawContent extends RawDocument {
  readonly content: string;
}

/** Lists and fetches documents. */
export interface ContentSource {
  /** Identifies the source: content kept for the next start is found again by this name. */
  readonly name: string;
  /** Set for quick sources that are never out of date, such as local files. They are read again at every start. */
  readonly isLocal?: boolean;
  /** Lists all documents. Fails rather than list a part. */
  listDocuments(context?: FetchContext): Promise<readonly RawDocument[]>;
  fetchContent(documentId: string, context?: FetchContext): Promise<RawContent>;
}

/** The run that a content source works for. */
export interface FetchContext {
  readonly signal: AbortSignal;
  progress(update: { readonly done: number; readonly total?: number; readonly message?: string }): void;
}

/** Reads content of some types. */
export interface ContentFormat {
  readonly name: string;
  canHandle(contentType: string): boolean;
  parse(content: RawContent, basePath: string): readonly ResourceNode[];
}

/** A piece of content in its tree. `path` is whole, from the domain down. */
export interface ResourceNode {
  readonly id: string;
  readonly name: string;
  readonly path: string;
  /** The whole content, including that of its children. `get` returns it. */
  readonly content: string;
  /** The part that search reads, where its children hold the rest. Default: the content. */
  readonly searchText?: string;
  readonly description?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly children?: readonly ResourceNode[];
}

/** A source and the formats that turn its documents into resources of a domain. */
export interface ContentPipeline {
  readonly source: ContentSource;
  readonly formats: readonly ContentFormat[];
  readonly basePath?: string;
  /** How long loaded content counts as fresh. Default: four hours. */
  readonly cacheTtlMs?: number;
  readonly scopes?: readonly string[];
}
