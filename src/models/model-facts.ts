import type { ProviderName } from "./providers/providers.ts";

/** US dollars for a million tokens. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  /** Input that the provider had cached. */
  readonly cached: number;
}

export interface ModelFacts {
  readonly provider: ProviderName;
  readonly name: string;
  /** Tokens that a request can have. */
  readonly window: number;
  /** Absent where the price depends on more than the tokens. */
  readonly price?: ModelPrice;
  /** A price that the provider has announced, from that day on. */
  readonly later?: { readonly from: string; readonly price: ModelPrice };
}

/** The day on which the providers' pages were read. */
export const MODEL_FACTS_DATE = "2026-11-15";

const price = (input: number, output: number, cached: number): ModelPrice => ({ input, output, cached });
const model = (
  provider: ProviderName,
  name: string,
  window: number,
  cost?: ModelPrice,
  later?: ModelFacts["later"],
): ModelFacts => ({ provider, name, window, ...(cost && { price: cost }), ...(later && { later }) });

const GEMINI_4 = { from: "2026-12-01", price: price(4, 20, 0.2) };

/** Models in current use, with the standard prices of their providers. The best known for agents come first. */
export const MODEL_FACTS: readonly ModelFacts[] = [
  model("anthropic", "claude-opus-5-5", 1_000_000, price(4, 20, 0.4)),
  model("anthropic", "claude-sonnet-5-5", 1_000_000, price(2, 10, 0.2)),
  model("anthropic", "claude-haiku-5-5", 1_000_000),
  model("anthropic", "claude-fable-5-2", 1_000_000, price(8, 40, 0.8)),
  model("anthropic", "claude-fable-5-1", 1_000_000, price(10, 50, 1)),
  model("anthropic", "claude-opus-5", 1_000_000, price(5, 25, 0.5)),
  model("anthropic", "claude-sonnet-5", 1_000_000, price(2, 10, 0.2)),
  model("anthropic", "claude-haiku-4-5", 200_000, price(1, 5, 0.1)),
  model("openai", "gpt-6.1-sol", 1_050_000, price(2, 10, 0.2)),
  model("openai", "gpt-6.1-terra", 1_050_000, price(1, 5, 0.1)),
  model("openai", "gpt-6-astra", 1_050_000, price(10, 50, 1)),
  model("openai", "gpt-6-sol", 1_050_000, price(2, 10, 0.2)),
  model("openai", "gpt-6-luna", 1_050_000, price(0.1, 0.5, 0.01)),
  model("openai", "gpt-5.6-terra", 1_050_000, price(2, 12, 0.2)),
  model("openai", "gpt-5.6-luna", 1_050_000, price(0.2, 1.2, 0.02)),
  model("openai", "gpt-5.6", 1_050_000, price(4, 20, 0.4)),
  model("openai", "gpt-5-mini", 400_000, price(0.25, 2, 0.025)),
  model("openai", "gpt-5", 400_000, price(1.25, 10, 0.125)),
  model("openai", "gpt-4o-mini", 128_000, price(0.15, 0.6, 0.075)),
  model("openai", "gpt-4o", 128_000, price(2.5, 10, 1.25)),
  model("gemini", "gemini-4-argon", 1_048_576, price(2, 10, 0.1), GEMINI_4),
  model("gemini", "gemini-4-carbon", 1_048_576, price(2, 10, 0.1), GEMINI_4),
  model("gemini", "gemini-3.8-flash", 1_048_576),
  model("gemini", "gemini-2.5-flash", 1_048_576),
];

/** The facts of a model, also by a dated name or one with its vendor in front; undefined for an unknown model. */
export function modelFacts(name: string): ModelFacts | undefined {
  const plain = name.toLowerCase().replace(/^.*\//, "");
  const fits = MODEL_FACTS.filter((facts) => plain === facts.name || isDated(plain, facts.name));
  return fits.sort((one, other) => other.name.length - one.name.length)[0];
}

/** The price of a model on a day. */
export function priceOf(name: string, day: Date = new Date()): ModelPrice | undefined {
  const facts = modelFacts(name);
  const { later } = facts ?? {};
  return later && day.toISOString().slice(0, 10) >= later.from ? later.price : facts?.price;
}

/** Only a date or `latest` may follow: another word is another model. */
function isDated(name: string, known: string): boolean {
  return name.startsWith(known) && /^[-@:](?:\d[\d-]*|latest)$/.test(name.slice(known.length));
}
