import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { toResourceDocument } from "../src/postgres/typesense/resource-document.ts";

type ResourceDocument = ReturnType<typeof toResourceDocument>;

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly key: string | undefined;
  readonly body: string;
}

/**
 * A loopback server that answers the few requests that Keyhole sends as the documented API of Typesense does: a
 * document needs the fields of the schema, and a search may name only those. It finds by any word, in the order of ids.
 * It does not filter, so tests see what the index itself filters.
 */
export class TypesenseStub {
  readonly received: Received[] = [];
  readonly documents = new Map<string, ResourceDocument>();
  /** Answers every request while set. */
  failure: { status: number; body: string; headers?: Record<string, string> } | "hang" | undefined;
  /** The fields of the collection. Undefined while there is none. */
  fields: readonly StubField[] | undefined;
  private readonly server: Server;

  constructor() {
    this.server = createServer(async (request, response) => {
      const body = await bodyOf(request);
      const key = request.headers["x-typesense-api-key"];
      const received = { method: request.method ?? "", path: request.url ?? "", key: key?.toString(), body };
      this.received.push(received);
      if (this.failure === "hang") return;
      const { status, body: answer } = this.failure ?? this.answer(received);
      response.writeHead(status, this.failure?.headers).end(answer);
    });
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** The params of every search so far. */
  get searches(): Record<string, unknown>[] {
    const asked = this.received.filter(({ path }) => path === "/multi_search");
    return asked.flatMap(
      ({ body }) => (JSON.parse(body) as { searches: Record<string, unknown>[] }).searches,
    );
  }

  private answer({ method, path, body }: Received): { status: number; body: string } {
    if (path === "/multi_search") return this.search(body);
    if (path === "/collections" && method === "POST") {
      this.fields = (JSON.parse(body) as { fields: StubField[] }).fields;
      return { status: 201, body: "{}" };
    }
    if (!this.fields) return { status: 404, body: '{"message":"Not found."}' };
    if (path.endsWith("/import?action=upsert")) return this.upsert(body);
    if (method === "DELETE" && !path.includes("/documents")) {
      this.fields = undefined;
      this.documents.clear();
    } else if (method === "DELETE") {
      for (const [, id = ""] of decodeURIComponent(path).matchAll(/`([^`]*)`/g)) this.documents.delete(id);
    }
    const { fields, documents } = this;
    return { status: 200, body: JSON.stringify({ fields, num_documents: documents.size }) };
  }

  private upsert(body: string): { status: number; body: string } {
    const lines = body.split("\n").map((line) => {
      const document = JSON.parse(line) as ResourceDocument;
      if (document.name === "refuse me") return JSON.stringify({ success: false, error: "Bad document." });
      const missing = this.fields?.find(({ name, optional }) => !optional && !(name in document));
      if (missing) {
        const error = `Field \`${missing.name}\` has been declared in the schema, but is not found in the document.`;
        return JSON.stringify({ success: false, error });
      }
      this.documents.set(document.id, document);
      return JSON.stringify({ success: true });
    });
    return { status: 200, body: lines.join("\n") };
  }

  private search(body: string): { status: number; body: string } {
    const { searches } = JSON.parse(body) as { searches: StubSearch[] };
    const results = searches.map((search) => {
      if (!this.fields) return { code: 404, error: "Not found." };
      const names = this.fields.map(({ name }) => name);
      const missing = search.query_by.split(",").find((name) => !names.includes(name));
      if (missing === undefined) return { hits: this.find(search) };
      return { code: 404, error: `Could not find a field named \`${missing}\` in the schema.` };
    });
    return { status: 200, body: JSON.stringify({ results }) };
  }

  private find({ q, page, per_page }: StubSearch): { document: ResourceDocument; text_match: number }[] {
    const words = q.split(" ");
    return [...this.documents.values()]
      .filter((document) => words.some((word) => Object.values(document).join(" ").includes(word)))
      .sort((one, other) => (one.uri < other.uri ? -1 : 1))
      .slice((page - 1) * per_page, page * per_page)
      .map((document) => ({ document, text_match: 1 }));
  }
}

interface StubField {
  readonly name: string;
  readonly type: string;
  readonly optional?: boolean;
}

interface StubSearch {
  readonly q: string;
  readonly query_by: string;
  readonly page: number;
  readonly per_page: number;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
