// An agent on the AI SDK that edits a website: it starts with one tool and finds the other 45 as it needs them.
// The model is a script here; replace it with your own.
import assert from "node:assert/strict";
import { generateText, isStepCount, type ModelMessage } from "ai";
import { createGateway } from "keyhole";
import { toAISDKTools } from "keyhole/ai-sdk";
import { createScriptedModel, type ScriptedReply } from "keyhole/testing";
import { createCms } from "../cms/cms.ts";

const cms = createCms();
const gateway = createGateway({
  domains: [cms.domain],
  principal: { id: "ed", scopes: [], allowWrite: true },
});
const messages: ModelMessage[] = [];
let session = await gateway.openSession();

/** One turn: the person's message and the model's steps. */
async function turn(prompt: string, replies: readonly ScriptedReply[]) {
  const model = createScriptedModel(replies);
  messages.push({ role: "user", content: prompt });
  const { session: handle, ...turn } = await toAISDKTools(gateway, { session });
  const result = await generateText({ ...turn, model, messages, stopWhen: isStepCount(10) });
  messages.push(...result.responseMessages);
  session = handle;
  const shown = model.requests.map(({ tools }) => tools);
  console.log(
    `\n${prompt}\n${shown.map((tools) => `  shown: ${tools.join(", ")}`).join("\n")}\n  ${result.text}`,
  );
  return { shown, text: result.text };
}

const search = (query: string) => ({ calls: [{ name: "tool_search", args: { query } }] });
const call = (name: string, args = {}) => ({ calls: [{ name, args }] });

// Needs no tool: the model sees one and answers directly.
const direct = await turn("What is a section?", [{ text: "A part of a page with a template of its own." }]);
assert.deepEqual(direct.shown, [["tool_search"]]);

// One discovery, one call.
const simple = await turn("Find the hero image", [
  search("find image"),
  call("cms_searchImages", { query: "hero" }),
  { text: "hero-mountain-dawn.jpg" },
]);
assert.ok(simple.shown[1]?.includes("cms_searchImages"));

// The next turn has the tools that this conversation has discovered.
const second = await turn("And one with snow?", [
  call("cms_searchImages", { query: "snow" }),
  { text: "There is one of the cabin in winter." },
]);
assert.ok(second.shown[0]?.includes("cms_searchImages"));

// Two discoveries, five calls.
const complex = await turn("Create an about page with a hero and an image", [
  search("create page with content, fields of a section template"),
  call("cms_getSectionFields", { template: "hero" }),
  call("cms_getSectionFields", { template: "imageText" }),
  call("cms_createPageWithContent", {
    name: "About",
    sections: [{ template: "hero", name: "About hero", content: { heading: "Eleven people" } }],
  }),
  search("add image to section"),
  call("cms_searchImages", { query: "team" }),
  call("cms_addImageToSection", { section: "sec_new_1", image: "img_005" }),
  { text: "The page is there, with a picture of the team." },
]);
assert.ok(complex.shown.at(-1)?.includes("cms_addImageToSection"));
const page = await gateway.get({ routes: [{ route: "cms.page.get", params: { page: "about" } }] });
assert.equal(page.summary.succeeded, 1);

// An undiscovered tool: the call discovers it, and because it only reads, runs it at once.
const repaired = await turn("Which pages are there?", [call("cms_listPages"), { text: "Ten." }]);
assert.ok(repaired.shown[1]?.includes("cms_listPages"));

const { tokens, everything } = (await gateway.report({ session })).ledger;
console.log(`\nPut into the context: ${JSON.stringify(tokens)}; listing all tools once: ${everything}`);
await gateway.close();
await cms.close();
