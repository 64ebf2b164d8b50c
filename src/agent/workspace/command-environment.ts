import { compileGlob } from "../permissions/match-glob.ts";

/** Names of variables that hold keys of model providers. */
const MODEL_KEY =
  /^(?:AI_GATEWAY|ANTHROPIC|AZURE_FOUNDRY|AZURE_OPENAI|CEREBRAS|CLAUDE|COHERE|DEEPSEEK|FIREWORKS|GEMINI|GOOGLE_API|GOOGLE_GENERATIVE|GROQ|HF|HUGGINGFACE|KEYHOLE|MISTRAL|OPENAI|OPENROUTER|PERPLEXITY|REPLICATE|TOGETHER|VOYAGE|XAI)_(?:.*_)?(?:KEY|TOKEN|SECRET)S?$|^GOOGLE_API_KEY$/i;

/**
 * The variables that commands get: those of the person, less keys of model providers and values that are configured
 * as secrets. Of `rules`, the last one that matches a name decides: `NAME` passes it on, `!NAME` does not; `*` is any
 * text.
 */
export function commandEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  rules: readonly string[] = [],
  secrets: readonly string[] = [],
): Record<string, string> {
  const judges = rules.map((rule) => {
    const hides = rule.startsWith("!");
    return { hides, isOf: compileGlob(hides ? rule.slice(1) : rule) };
  });
  const passes = (name: string, value: string) => {
    const judge = judges.findLast(({ isOf }) => isOf(name));
    if (judge) return !judge.hides;
    return !MODEL_KEY.test(name) && !secrets.some((secret) => value.includes(secret));
  };
  const passed = Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && passes(name, value) ? [[name, value] as const] : [],
  );
  return Object.fromEntries(passed);
}
