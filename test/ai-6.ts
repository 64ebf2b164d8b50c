import { importTool } from "../scripts/tool.ts";
import { unlessUnreachable } from "./unless-unreachable.ts";

type Sdk = Pick<typeof import("ai"), "generateText" | "stepCountIs">;
type Mocks = Pick<typeof import("ai/test"), "MockLanguageModelV3">;

/** Version 6 of the AI SDK, typed as the current one. Undefined if npm cannot fetch it. */
export const ai6 = await unlessUnreachable(async () => ({
  ...(await importTool<Sdk>("ai-6", "ai")),
  ...(await importTool<Mocks>("ai-6", "ai/test")),
}));
