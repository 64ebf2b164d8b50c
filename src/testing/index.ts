export type { DescribeIndexOptions, TestRunner } from "./describe-index.ts";
export { describeIndex } from "./describe-index.ts";
export { describeStorage } from "./describe-storage.ts";
export type { ScriptedReply, ScriptedRequest } from "./model-wire/scripted-exchange.ts";
export type { ModelScript, ScriptedModel } from "./scripted-model.ts";
export { createScriptedModel } from "./scripted-model.ts";
export type { ServedModel } from "./serve-scripted-model.ts";
export { serveScriptedModel } from "./serve-scripted-model.ts";
