/** A document as its source lists it. */
export interface RawDocument {
  readonly id: string;
  readonly name: string;
  readonly contentType: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** A document as its source gives it. */
export interface RawContent extends RawDocument {
  readonly content: string;
}

/** Where content comes from. */
export interface ContentSource {
  readonly name: string;
  listDocuments(): Promise<readonly RawDocument[]>;
  fetchContent(documentId: string): Promise<RawContent>;
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
  readonly scopes?: readonly string[];
}
