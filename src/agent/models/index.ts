export { createLLMClient, type LLMClient, type LLMClientOptions } from "./llm-client.ts";
export type { ModelResponse } from "./providers/model-errors.ts";
