import { splitCompounds } from "../analysis/split-compounds.ts";
import type { SearchDocument } from "../port/search-index.ts";

const MAX_ALIASES = 200;
const MAX_DESCRIPTION = 300;
const MAX_DOMAIN = 200;
const MAX_NAME_WORDS = 32;

/** The text whose vector stands for a document: names as words, the beginning of what describes it. */
export function vectorText(document: SearchDocument): string {
  const parts = [
    asWords(document.name),
    asWords(document.aliases.join(". ").slice(0, MAX_ALIASES)),
    document.description.slice(0, MAX_DESCRIPTION),
    document.domainText.slice(0, MAX_DOMAIN),
  ];
  return parts.filter((part) => part.trim() !== "").join(". ");
}

function asWords(name: string): string {
  return splitCompounds(name, MAX_NAME_WORDS)
    .flatMap((compound) => compound.parts)
    .join(" ");
}
