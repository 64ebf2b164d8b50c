import { createMcpServer } from "keyhole/mcp";
import { describe, expect, vi } from "vitest";
import { verifies } from "../claims.ts";
import { openNotes } from "../library-kit.ts";
import { connect, ERAS } from "./connect.ts";

describe.each(ERAS)("a client of %s", (era) => {
  verifies("markdown:prompts", "fills in prompts, and hears which arguments are missing", async () => {
    const { gateway } = openNotes();
    const { client } = await connect(createMcpServer(gateway), era);
    const { prompts } = await client.listPrompts();
    expect(prompts).toEqual([
      expect.objectContaining({
        name: "new-project",
        title: "Create a project",
        arguments: [
          { name: "description", description: "What is to be built", required: true },
          { name: "language", required: false },
        ],
      }),
    ]);
    const asked = { name: "new-project", arguments: { description: "$ARGUMENTS", language: "Go" } };
    const { messages } = await client.getPrompt(asked);
    expect(messages).toEqual([
      { role: "user", content: { type: "text", text: "Build $ARGUMENTS in Go. ($ARGUMENTS)" } },
    ]);
    const missing = client.getPrompt({ name: "new-project", arguments: { language: "Go" } });
    await expect(missing).rejects.toSatisfy((error) =>
      JSON.stringify([error, String(error), error.data]).includes("description"),
    );
  });

  verifies("markdown:match", "reads a match URI by its template", async () => {
    const { gateway } = openNotes();
    const { client } = await connect(createMcpServer(gateway), era);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates).toEqual(
      ["agents/match", "match", "skills/match"].map((path) =>
        expect.objectContaining({
          uriTemplate: `notes://resources/${path}{+rest}`,
          mimeType: "text/markdown",
        }),
      ),
    );
    const { contents } = await client.readResource({
      uri: "notes://resources/match?query=design+types&mode=full&maxTokens=100&tags=types",
    });
    expect(contents[0]).toMatchObject({
      mimeType: "text/markdown",
      text: expect.stringContaining("How to design types."),
    });
    const { contents: fragment } = await client.readResource({ uri: "notes://resources/agents/types" });
    expect(fragment[0]).toMatchObject({
      mimeType: "text/markdown",
      text: expect.stringContaining("# Types"),
    });
    await expect(client.readResource({ uri: "notes://resources/match?query=a&mode=all" })).rejects.toThrow();
  });
});

verifies("markdown:reload", "clients get one notice for many saved files", async () => {
  const { gateway, save, source } = openNotes();
  let told = 0;
  const listChanged = { prompts: { onChanged: () => void told++, autoRefresh: false } };
  const { client } = await connect(createMcpServer(gateway), "2025-11-25", { listChanged });
  await client.listPrompts();
  await source.refresh();
  for (let count = 0; count < 10; count++) save(`prompts/many/p${count}.md`, `Do ${count}.`);
  await vi.waitFor(() => expect(told).toBeGreaterThan(0), { timeout: 30_000, interval: 5 });
  await source.refresh();
  expect((await client.listPrompts()).prompts).toHaveLength(11);
  expect(told).toBe(1);
});
