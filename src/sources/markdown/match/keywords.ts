/** Words that carry no meaning in a request for knowledge. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  [
    "a an the this that these those it its is are was were be been being am and or but not no nor if then else",
    "of in on at by for from with without within into onto to as than so up out off over under about",
    "i you he she we they me him her us them my your his our their what which who whom whose when where why how",
    "do does did can could would should will shall may might must have has had want need please some any all",
  ]
    .join(" ")
    .split(" "),
);

const MAX_KEYWORDS = 64;

/** The words that a query or a scenario is looked up by: lower case, each once. */
export function toKeywords(text: string): string[] {
  const words = text
    .normalize("NFC")
    .toLowerCase()
    .split(/[^\p{L}\p{N}\p{M}]+/u)
    .filter((word) => word.length > 1 && !STOP_WORDS.has(word));
  return [...new Set(words)].slice(0, MAX_KEYWORDS);
}
