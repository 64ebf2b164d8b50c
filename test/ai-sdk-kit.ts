import { generateText, isStepCount, type LanguageModel, type ModelMessage, streamText } from "ai";
import { createGateway, type Gateway } from "keyhole";
import { type AISDKToolsOptions, toAISDKTools } from "keyhole/ai-sdk";
import {
  createScriptedModel,
  type ModelScript,
  type ScriptedReply,
  type ScriptedRequest,
} from "keyhole/testing";
import { onTestFinished } from "vitest";
import { type Calls, clerk, createShop } from "./shop.ts";

globalThis.AI_SDK_LOG_WARNINGS = false;

interface Spoken {
  readonly text: string;
  readonly requests: readonly ScriptedRequest[];
  readonly session: string;
  readonly messages: readonly ModelMessage[];
}

export type Connect = (
  script: ModelScript,
) => Promise<{ model: LanguageModel; requests: readonly ScriptedRequest[] }>;

export const direct: Connect = async (script) => {
  const model = createScriptedModel(script);
  return { model, requests: model.requests };
};

export function openShop(): { gateway: Gateway; calls: Calls } {
  const { domains, calls } = createShop();
  const gateway = createGateway({ domains, principal: clerk });
  onTestFinished(() => gateway.close());
  return { gateway, calls };
}

interface Turn {
  readonly gateway: Gateway;
  /** Undefined if the conversation continues without a user message, as after an approval. */
  readonly prompt?: string;
  readonly replies: readonly ScriptedReply[];
  readonly connect?: Connect;
  readonly options?: AISDKToolsOptions;
  readonly isStream?: boolean;
  readonly history?: readonly ModelMessage[];
  /** Further settings of `generateText` and `streamText`. */
  readonly settings?: object;
  /** Runs after the tools of the turn are made and before the model is called. */
  readonly beforeTurn?: () => Promise<void>;
}

export async function speak({
  gateway,
  prompt,
  replies,
  connect = direct,
  options,
  isStream,
  history = [],
  settings: further,
  beforeTurn,
}: Turn): Promise<Spoken> {
  const { model, requests } = await connect(replies);
  const { session, ...turn } = await toAISDKTools(gateway, options);
  await beforeTurn?.();
  const settings = {
    ...turn,
    ...further,
    model,
    messages: [...history, ...(prompt === undefined ? [] : [{ role: "user" as const, content: prompt }])],
    stopWhen: isStepCount(10),
  };
  const result = isStream ? streamText(settings) : await generateText(settings);
  const text = await result.text;
  return { text, requests, session, messages: [...settings.messages, ...(await result.responseMessages)] };
}

export const search = (query: string): ScriptedReply => ({
  calls: [{ name: "tool_search", args: { query } }],
});
export const call = (name: string, args: Record<string, unknown> = {}): ScriptedReply => ({
  calls: [{ name, args }],
});
