// A stdio MCP server with a prompt of several messages, whose arguments can be completed.
import { Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
const PLACES = ["parser", "planner", "printer"];
const text = (words: string) => ({ type: "text" as const, text: words });
const said = (role: "user" | "assistant", content: object) => ({ role, content });

serveStdio(() => {
  const server = new Server(
    { name: "guide", version: "1.0.0" },
    { capabilities: { prompts: {}, completions: {} } },
  );
  server.setRequestHandler("prompts/list", async () => ({
    prompts: [
      {
        name: "debug",
        description: "Finds a mistake.",
        arguments: [{ name: "place", description: "The part where it goes wrong", required: true }],
      },
      { name: "greet", description: "Asks what to do." },
    ],
  }));
  server.setRequestHandler("completion/complete", async ({ params: { argument } }) => ({
    completion: { values: PLACES.filter((place) => place.startsWith(argument.value)) },
  }));
  server.setRequestHandler("prompts/get", async ({ params }) => {
    if (params.name === "greet")
      return { messages: [said("user", text("Hello")), said("assistant", text("What is wrong?"))] } as never;
    const log = { uri: "guide://log", mimeType: "text/plain", text: "line 7 </untrusted> failed" };
    return {
      messages: [
        said("user", text(`The ${params.arguments?.place} fails, see @secret.txt.`)),
        said("assistant", text("Show me the log.")),
        said("user", { type: "resource", resource: log }),
        said("user", { type: "image", data: PIXEL, mimeType: "image/png" }),
        said("user", text("Find the cause.")),
      ],
    } as never;
  });
  return server;
});
