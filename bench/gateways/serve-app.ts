import { createInterface } from "node:readline";

/** An application that gives a model a search over the tools of several servers. */
export interface App {
  readonly name: string;
  /** The definitions that the model is shown first. An application can ask it only after its servers have listed. */
  menu(): Promise<readonly object[]>;
  /** Everything that the model reads after it has searched. */
  search(query: string): Promise<string>;
  /** The result of a tool, in the shape of the protocol. */
  call(name: string, args: Readonly<Record<string, unknown>>): Promise<object>;
  /** Ends its servers. */
  close?(): Promise<void>;
}

type Params = { readonly name?: string; readonly arguments?: Readonly<Record<string, unknown>> };

/** Answers list and call over stdio like a server, so that an application is measured like the gateways. */
export function serveApp(app: App): void {
  const methods: Readonly<Record<string, (params: Params) => Promise<object>>> = {
    initialize: async () => ({
      protocolVersion: "2025-06-18",
      capabilities: { tools: {} },
      serverInfo: { name: app.name, version: "1" },
    }),
    "tools/list": async () => ({ tools: await app.menu() }),
    "tools/call": async ({ name = "", arguments: args = {} }) =>
      name === "search"
        ? { content: [{ type: "text", text: await app.search(String(args.query)) }] }
        : app.call(name, args),
  };
  createInterface({ input: process.stdin })
    .on("line", async (line) => {
      const { id, method, params = {} } = JSON.parse(line);
      if (id === undefined) return;
      const answer = await methods[method]!(params).then(
        (result) => ({ result }),
        (error: Error) => ({ error: { code: -32603, message: error.message } }),
      );
      process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
    })
    .on("close", async () => {
      await app.close?.();
      process.exit(0);
    });
}
