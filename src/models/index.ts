export { createLLMClient } from "./llm-client.ts";
export type { LLMClient, LLMClientOptions } from "./llm-client-api.ts";
export type { ModelResponse } from "./providers/model-response.ts";
