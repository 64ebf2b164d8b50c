/** A document as its source lists it. */
export interface RawDocument {
  readonly id: string;
  readonly name: string;
  readonly contentType: string;
  /** Changes with the content (a hash, an ETag, a time). A document with a known version is not fetched again. */
  readonly version?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** A document with its content. */
export interface RawContent extends RawDocument {
  readonly content: string;
}

/** Lists and fetches documents. */
export interface ContentSource {
  /** Identifies the source, and its stored content at the next start. */
  readonly name: string;
  /** Whether the source is quick and always current, such as local files. It is read again at every start. */
  readonly isLocal?: boolean;
  /** Lists all documents, or fails: never only some. */
  listDocuments(context?: FetchContext): Promise<readonly RawDocument[]>;
  fetchContent(documentId: string, context?: FetchContext): Promise<RawContent>;
}

/** Context of one run of a content source. */
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

/** A node in the tree of a document. `path` is the full path from the domain. */
export interface ResourceNode {
  readonly id: string;
  readonly name: string;
  readonly path: string;
  /** The whole content, including its children. `get` returns it. */
  readonly content: string;
  /** The text for search, without what its children hold. Default: the content. */
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
  /** How long loaded content is fresh. Default: four hours. */
  readonly cacheTtlMs?: number;
  readonly scopes?: readonly string[];
}
