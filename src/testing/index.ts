export type { DescribeIndexOptions, TestRunner } from "./describe-index.ts";
export { describeIndex, INDEX_BEHAVIOURS } from "./describe-index.ts";
export type {
  ModelScript,
  ScriptedMessage,
  ScriptedModel,
  ScriptedReply,
  ScriptedRequest,
} from "./scripted-model.ts";
export { createScriptedModel, inOrder } from "./scripted-model.ts";
export type { ServedModel } from "./serve-scripted-model.ts";
export { serveScriptedModel } from "./serve-scripted-model.ts";
