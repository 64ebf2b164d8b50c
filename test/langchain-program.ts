// Uses LangChain's tools as an application does, and prints what their `invoke` returns.
import { createGateway, defineDomain, defineTool, toLangChainTools } from "keyhole";
import { z } from "zod";
import { offerTool } from "../scripts/tool.ts";

offerTool("langchain", "@langchain/core");
const image = { type: "image", mimeType: "image/png", data: Buffer.from("logo").toString("base64") };
const logo = defineTool({
  name: "read_logo",
  description: "Read the logo of the shop.",
  inputSchema: z.object({}),
  execute: () => [image],
});
const gateway = createGateway({
  domains: [defineDomain({ name: "shop", description: "A shop.", tools: [logo] })],
});
const tools = await toLangChainTools(gateway);
const invoke = (name: string, input: Record<string, unknown>) =>
  tools.find((tool) => tool.name === name)!.invoke(input);
console.log(
  JSON.stringify({
    ask: await invoke("ask", { query: "the logo" }),
    get: await invoke("get", { routes: [{ route: "shop.logo.read" }] }),
  }),
);
await gateway.close();
