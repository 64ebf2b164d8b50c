/** US dollars for a million tokens. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  /** Input that the provider had cached. */
  readonly cached: number;
  /** Input that the provider has put into its cache. */
  readonly written: number;
}

export interface ModelFacts {
  /** The provider's name in the config. */
  readonly provider: "anthropic" | "openai" | "gemini";
  readonly name: string;
  /** Tokens that a request can have. */
  readonly window: number;
  /** Absent if nobody could verify it. */
  readonly price?: ModelPrice;
  /** The price of requests with more input than that. */
  readonly long?: { readonly over: number; readonly price: ModelPrice };
  /** A price that the provider has announced, from that day on. */
  readonly later?: { readonly from: string; readonly price: ModelPrice };
}

export interface BilledTokens {
  /** All input, with the cached part. */
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly cacheWritten?: number;
}

/** The day on which the names and prices were compared with the providers' published ones. */
export const MODEL_FACTS_DATE = "2026-11-17";

/** Anthropic and OpenAI charge a quarter more for input that goes into the cache; Google charges nothing extra. */
const price = (input: number, output: number, cached: number, written = input * 1.25): ModelPrice => ({
  input,
  output,
  cached,
  written,
});
const google = (input: number, output: number, cached: number) => price(input, output, cached, input);

type More = Pick<ModelFacts, "long" | "later">;
const model =
  (provider: ModelFacts["provider"]) =>
  (name: string, window: number, cost?: ModelPrice, more: More = {}): ModelFacts => ({
    provider,
    name,
    window,
    ...(cost && { price: cost }),
    ...more,
  });
const anthropic = model("anthropic");
const openai = model("openai");
const gemini = model("gemini");

/** OpenAI doubles the input prices of long requests, and charges half as much again for their output. */
const long = ({ input, output, cached, written }: ModelPrice): More => ({
  long: { over: 272_000, price: price(input * 2, output * 1.5, cached * 2, written * 2) },
});
/** OpenAI's window of 1,050,000 tokens, without the 128,000 of the answer. */
const GPT_WINDOW = 922_000;
const gpt = (name: string, cost: ModelPrice) => openai(name, GPT_WINDOW, cost, long(cost));

const GEMINI_4 = { later: { from: "2026-12-01", price: google(4, 20, 0.2) } };
const FLASH = { later: { from: "2027-01-01", price: google(1.5, 7.5, 0.15) } };
const HAIKU = { long: { over: 100_000, price: price(0.5, 2.5, 0.05) } };

/** Models in current use, with the standard prices of their providers. The first of a provider is its default. */
export const MODEL_FACTS: readonly ModelFacts[] = [
  anthropic("claude-sonnet-5-5", 1_000_000, price(2, 10, 0.1)),
  anthropic("claude-opus-5-5", 1_000_000, price(4, 20, 0.2)),
  anthropic("claude-haiku-5-5", 1_000_000, price(0.1, 0.5, 0.01), HAIKU),
  anthropic("claude-fable-5-2", 1_000_000),
  anthropic("claude-fable-5-1", 1_000_000, price(10, 50, 0.25)),
  anthropic("claude-opus-5", 1_000_000, price(5, 25, 0.5)),
  anthropic("claude-sonnet-5", 1_000_000, price(2, 10, 0.2)),
  anthropic("claude-haiku-4-5", 200_000, price(1, 5, 0.1)),
  gpt("gpt-6.1-sol", price(2, 10, 0.1)),
  gpt("gpt-6.1-terra", price(1, 5, 0.05)),
  gpt("gpt-6-astra", price(10, 50, 1)),
  gpt("gpt-6-sol", price(2, 10, 0.2)),
  gpt("gpt-6-luna", price(0.1, 0.5, 0.01)),
  gpt("gpt-5.6-terra", price(2, 12, 0.2)),
  gpt("gpt-5.6-luna", price(0.2, 1.2, 0.02)),
  gpt("gpt-5.6", price(4, 20, 0.4)),
  openai("gpt-5-mini", 272_000, price(0.25, 2, 0.025, 0.25)),
  openai("gpt-5", 272_000, price(1.25, 10, 0.125, 1.25)),
  openai("gpt-4o-mini", 128_000, price(0.15, 0.6, 0.075, 0.15)),
  openai("gpt-4o", 128_000, price(2.5, 10, 1.25, 2.5)),
  gemini("gemini-4-argon", 1_048_576, google(2, 10, 0.1), GEMINI_4),
  gemini("gemini-4-carbon", 1_048_576, google(2, 10, 0.1), GEMINI_4),
  gemini("gemini-3.8-flash", 1_048_576, google(0.75, 3.75, 0.075), FLASH),
  gemini("gemini-2.5-flash", 1_048_576),
];

/** The model of a provider for people who have named none. */
export function defaultModelOf(provider: ModelFacts["provider"]): string {
  return MODEL_FACTS.find((facts) => facts.provider === provider)!.name;
}

/** The facts of a model, also by a dated name or one with its vendor in front; undefined for an unknown model. */
export function modelFacts(name: string): ModelFacts | undefined {
  const plain = name.toLowerCase().replace(/^.*\//, "");
  const fits = MODEL_FACTS.filter((facts) => plain === facts.name || isDated(plain, facts.name));
  return fits.sort((one, other) => other.name.length - one.name.length)[0];
}

/** Whether a list has a model, under this name or with a date after it. */
export function isModelNamed(name: string, listed: readonly string[]): boolean {
  return listed.some((each) => each === name || isDated(each, name));
}

const MILLION = 1_000_000;

/** US dollars of one request on a day; undefined for a model without a known price. */
export function costOf(name: string, tokens: BilledTokens, day: Date = new Date()): number | undefined {
  const known = modelFacts(name);
  if (!known?.price) return undefined;
  const { later, long } = known;
  const isLater = later !== undefined && day.toISOString().slice(0, 10) >= later.from;
  const isLong = long !== undefined && tokens.input > long.over;
  const rate = isLater ? later.price : isLong ? long.price : known.price;
  const { input, output, cached, cacheWritten = 0 } = tokens;
  const plain = Math.max(0, input - cached - cacheWritten);
  const spent =
    plain * rate.input + cached * rate.cached + cacheWritten * rate.written + output * rate.output;
  return spent / MILLION;
}

/** Only a date or `latest` may follow: another word is another model. */
function isDated(name: string, known: string): boolean {
  return name.startsWith(known) && /^[-@:](?:\d[\d-]*|latest)$/.test(name.slice(known.length));
}
