import { generateText, isStepCount } from "ai";
import { createGateway, type Gateway } from "keyhole";
import { toAISDKTools } from "keyhole/ai-sdk";
import { createScriptedModel, type ScriptedReply } from "keyhole/testing";
import { onTestFinished } from "vitest";
import { createCms } from "../../examples/cms/cms.ts";

globalThis.AI_SDK_LOG_WARNINGS = false;

/** The tools that the plan lists, by category. */
export const TOOL_INDEX: Readonly<Record<string, readonly string[]>> = {
  pages: [
    "cms_getPage",
    "cms_createPage",
    "cms_createPageWithContent",
    "cms_updatePage",
    "cms_deletePage",
    "cms_listPages",
  ],
  sections: [
    "cms_listSectionTemplates",
    "cms_getSectionFields",
    "cms_addSectionToPage",
    "cms_updateSectionContent",
    "cms_deletePageSection",
    "cms_deletePageSections",
    "cms_getPageSections",
    "cms_getSectionContent",
  ],
  images: [
    "cms_findImage",
    "cms_searchImages",
    "cms_listAllImages",
    "cms_addImageToSection",
    "cms_updateSectionImage",
    "cms_replaceImage",
    "cms_deleteImage",
  ],
  posts: [
    "cms_createPost",
    "cms_updatePost",
    "cms_publishPost",
    "cms_archivePost",
    "cms_deletePost",
    "cms_listPosts",
    "cms_getPost",
  ],
  navigation: [
    "cms_getNavigation",
    "cms_addNavigationItem",
    "cms_updateNavigationItem",
    "cms_removeNavigationItem",
    "cms_toggleNavigationItem",
  ],
  entries: ["cms_getCollectionEntries", "cms_getEntryContent"],
  search: ["search_vector", "cms_findResource"],
  http: ["http_get", "http_post"],
  research: ["web_quickSearch", "web_deepResearch", "web_fetchContent"],
  pexels: ["pexels_searchPhotos", "pexels_downloadPhoto"],
  planning: ["plan_analyzeTask"],
};

export function openCms(): Gateway {
  const cms = createCms();
  const gateway = createGateway({
    domains: [cms.domain],
    principal: { id: "editor", scopes: [], allowWrite: true },
  });
  onTestFinished(async () => {
    await gateway.close();
    await cms.close();
  });
  return gateway;
}

export const found = async (gateway: Gateway, query: string, limit = 5) =>
  (await gateway.ask({ query, limit })).hits.filter(({ entryPoint }) => !entryPoint).map(({ name }) => name);

export interface ToolSearchAnswer {
  readonly tools: readonly { readonly name: string; readonly description: string }[];
  readonly rules: string;
  readonly instruction: string;
}

/** Calls the plan's `tool_search({ query, limit })` as the AI SDK does. */
export async function toolSearch(
  gateway: Gateway,
  input: { query: string; limit?: number },
): Promise<ToolSearchAnswer> {
  const { tools } = await toAISDKTools(gateway);
  const options = { toolCallId: "1", messages: [], context: undefined };
  return (await tools.tool_search!.execute!(input as never, options as never)) as ToolSearchAnswer;
}

export async function converse(
  gateway: Gateway,
  replies: readonly ScriptedReply[],
  prompt: string,
  session?: string,
) {
  const model = createScriptedModel(replies);
  const { session: handle, ...turn } = await toAISDKTools(gateway, session ? { session } : {});
  const { text } = await generateText({ ...turn, model, prompt, stopWhen: isStepCount(10) });
  return { text, requests: model.requests, session: handle };
}
