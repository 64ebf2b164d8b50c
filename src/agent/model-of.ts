import type { LanguageModel } from "ai";
import type { Agent, ModelGiven } from "./agent.ts";

/** The model of an agent's next request. */
export async function modelOf({ options: { model } }: Agent): Promise<LanguageModel> {
  const given: ModelGiven = typeof model === "function" ? await model() : model;
  if (typeof given === "string" || !("success" in given)) return given;
  if (given.success) return given.result;
  throw given;
}

export function nameOf(model: LanguageModel): string {
  return typeof model === "string" ? model : model.modelId;
}
