import { lazy } from "../util/lazy.ts";

const decoder = new TextDecoder();

/** Init of a {@link WholeResponse}. Headers are created on first read, which is rare. */
interface WholeInit {
  readonly status: number;
  readonly statusText: string;
  headers(): [string, string][];
}

/**
 * A response whose body has arrived. Reading its text needs no stream and reading its status no `Headers`; either costs
 * more than a small body. Every other access creates a common response first.
 */
export class WholeResponse implements Response {
  readonly type = "default";
  readonly url = "";
  readonly redirected = false;
  readonly status: number;
  readonly statusText: string;
  readonly #bytes: Uint8Array<ArrayBuffer>;
  readonly #init: WholeInit;
  #headers: Headers | undefined;
  #common: Response | undefined;
  #isRead = false;

  constructor(bytes: Uint8Array<ArrayBuffer>, init: WholeInit) {
    beResponses();
    this.status = init.status;
    this.statusText = init.statusText;
    this.#bytes = bytes;
    this.#init = init;
    // A common response refuses such a status.
    if (init.status < 200 || init.status > 599) this.#toCommon();
  }

  /** Bytes of the body. */
  get size() {
    return this.#bytes.length;
  }

  get ok() {
    return this.status >= 200 && this.status <= 299;
  }

  get headers() {
    this.#headers ??= new Headers(this.#init.headers());
    return this.#headers;
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

  textStream() {
    return this.#toCommon().textStream();
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
    // A body can be read once, in any way.
    if (this.#isRead && !this.#common.bodyUsed) void this.#common.text();
    return this.#common;
  }
}

/**
 * Makes instances of Response without constructing one. Deferred to the first instance, because naming Response makes
 * Node load its fetch, which a start does not need.
 */
const beResponses = lazy(() => Object.setPrototypeOf(WholeResponse.prototype, Response.prototype));
