import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { createGateway } from "keyhole";
import { type AgentEvent, createAgent, createPermissions, run, workspaceDomain } from "keyhole/agent";
import { createScriptedModel } from "keyhole/testing";
import { expect, onTestFinished, test } from "vitest";
import { DOT_PNG } from "./dot-png.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const DATA = DOT_PNG.toString("base64");

test("an image of a prompt and one that a tool reads go to the model as images, never as text", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "dot.png"), DOT_PNG);
  const gateway = createGateway({
    domains: [workspaceDomain({ permissions: createPermissions({ root: folder }) })],
    principal: { id: "me", scopes: [], allowWrite: true },
  });
  onTestFinished(() => gateway.close());
  const model = createScriptedModel([
    { calls: [{ name: "read", args: { path: "dot.png" } }] },
    { text: "A dot." },
  ]);
  const events: AgentEvent[] = [];
  const files = [{ mediaType: "image/png", data: DATA }];
  for await (const event of run(createAgent({ gateway, model }), "Which image?", { files }))
    events.push(event);

  const { prompt } = model.requests.at(-1)!.body as LanguageModelV4CallOptions;
  const [asked] = prompt.filter(({ role }) => role === "user");
  expect(asked?.content).toContainEqual(expect.objectContaining({ type: "file", mediaType: "image/png" }));
  const [read] = prompt.filter(({ role }) => role === "tool");
  const [result] = (read as { content: { output: { value: { type: string; text?: string }[] } }[] }).content;
  const parts = result!.output.value;
  expect(parts.map(({ type }) => type)).toEqual(["text", "file"]);
  expect(parts[0]!.text).not.toContain(DATA);

  const end = events.find((event) => event.type === "tool-end");
  expect(end).toMatchObject({ ok: true, files: [{ mediaType: "image/png", data: DATA }] });
});
