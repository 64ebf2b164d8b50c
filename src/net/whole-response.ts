type Readers =
  | "text"
  | "json"
  | "body"
  | "bodyUsed"
  | "arrayBuffer"
  | "blob"
  | "bytes"
  | "formData"
  | "clone";

const Bare = Response as unknown as new (body: null, init: ResponseInit) => Omit<Response, Readers>;
const decoder = new TextDecoder();

/**
 * A response whose body has arrived. Its text is read without a stream, which costs more than a small body does.
 * Any other way to read makes a common response first.
 */
export class WholeResponse extends Bare implements Response {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  #common: Response | undefined;
  #isRead = false;

  constructor(bytes: Uint8Array<ArrayBuffer>, init: ResponseInit) {
    super(null, init);
    this.#bytes = bytes;
  }

  async text() {
    if (this.#isRead || this.#common) return this.#toCommon().text();
    this.#isRead = true;
    return decoder.decode(this.#bytes);
  }

  async json() {
    return JSON.parse(await this.text());
  }

  get body() {
    return this.#toCommon().body;
  }

  get bodyUsed() {
    return this.#isRead || (this.#common?.bodyUsed ?? false);
  }

  arrayBuffer() {
    return this.#toCommon().arrayBuffer();
  }

  blob() {
    return this.#toCommon().blob();
  }

  bytes() {
    return this.#toCommon().bytes();
  }

  formData() {
    return this.#toCommon().formData();
  }

  clone() {
    return this.#toCommon().clone();
  }

  #toCommon(): Response {
    const { status, statusText, headers } = this;
    this.#common ??= new Response(this.#bytes, { status, statusText, headers });
    // A body is read once, whichever way.
    if (this.#isRead && !this.#common.bodyUsed) void this.#common.text();
    return this.#common;
  }
}
