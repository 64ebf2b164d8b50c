export type { AISDKTools, AISDKToolsOptions } from "./ai-sdk-tools.ts";
export { toAISDKTools } from "./ai-sdk-tools.ts";
export type { TrimOptions } from "./messages.ts";
export type { RankedTool, RankTools } from "./rank-tools.ts";
export { createToolRanking } from "./rank-tools.ts";
