/** A document as its source lists it. */
export interface RawDocument {
  readonly id: string;
  readonly name: string;
  readonly contentType: string;
  /** Changes with the content (a hash, an ETag, a time). What has the version held already is not fetched again. */
  readonly version?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** A document as its source gives it. */
export interface RawContent extends RawDocument {
  readonly content: string;
}

/** Where content comes from. */
export interface ContentSource {
  /** Says where: what is kept of it for the next start is found again by this name. */
  readonly name: string;
  /** Quick to read and never out of date, such as local files: read again at every start. */
  readonly isLocal?: boolean;
  /** All documents. Fails rather than list a part. */
  listDocuments(context?: FetchContext): Promise<readonly RawDocument[]>;
  fetchContent(documentId: string, context?: FetchContext): Promise<RawContent>;
}

/** What a content source is told about the run that it works for. */
export interface FetchContext {
  readonly signal: AbortSignal;
  progress(update: { readonly done: number; readonly total?: number; readonly message?: string }): void;
}

/** How content is read. */
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
  readonly content: string;
  readonly description?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly children?: readonly ResourceNode[];
}

/** Where × how: turns a source's documents into resources of a domain. */
export interface ContentPipeline {
  readonly source: ContentSource;
  readonly formats: readonly ContentFormat[];
  readonly basePath?: string;
  /** How long what was loaded counts as fresh. Default: four hours. */
  readonly cacheTtlMs?: number;
  readonly scopes?: readonly string[];
}
