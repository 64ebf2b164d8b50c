import type { Explanation } from "../../src/search/port/search-index.ts";
import { Badge } from "./basics.tsx";

const MOST_TERMS = 6;
/** The fields of search, in words for people. */
const FIELDS: Readonly<Record<string, string>> = { domainText: "domain", aliases: "other names" };

/** Why a hit stands where it stands: its words, its meaning, and what was learned. */
export function Why({
  need,
  explanation,
  best,
  isEntryPoint,
}: {
  need: string;
  explanation: Explanation | undefined;
  best: number;
  isEntryPoint: boolean;
}) {
  if (!explanation)
    return (
      <p class="why-none">
        {isEntryPoint
          ? "Shown as the way into its domain, not because it matched."
          : "Its search engine gives no reasons."}
      </p>
    );
  const { lexical, vector, learned, exactName, terms, fields } = explanation;
  const top = [...terms].sort((one, other) => other.score - one.score).slice(0, MOST_TERMS);
  const parts = Object.entries(fields).sort(([, one], [, other]) => other - one);
  return (
    <div class="why">
      <div class="signals">
        <Signal name="words" share={lexical / best} text={lexical.toFixed(2)} />
        <Signal name="meaning" share={vector} text={vector === undefined ? "not used" : vector.toFixed(2)} />
        <Signal
          name="learned"
          share={learned}
          text={learned === undefined ? "–" : `+${Math.round(learned * 100)} %`}
        />
      </div>
      <p class="why-words">
        {exactName && <Badge tone="accent">its very name</Badge>}
        {top.map(({ term, fields: where }) => (
          <span key={term} class="term">
            <b>{wordOf(term, need)}</b> in {where.map((field) => FIELDS[field] ?? field).join(", ")}
          </span>
        ))}
        {parts.length > 0 && top.length > 0 && (
          <span class="quiet">
            most from <b>{FIELDS[parts[0]?.[0] ?? ""] ?? parts[0]?.[0]}</b>
          </span>
        )}
      </p>
    </div>
  );
}

/** The word of the need that a stem stands for, as the person typed it. */
function wordOf(term: string, need: string): string {
  const words = need.match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.find((word) => word.toLowerCase().startsWith(term)) ?? term;
}

function Signal({ name, share, text }: { name: string; share: number | undefined; text: string }) {
  const width = Math.max(0, Math.min(1, share ?? 0)) * 100;
  return (
    <span class={`signal ${share === undefined ? "off" : ""}`}>
      <span class="signal-name">{name}</span>
      <span class="track" aria-hidden="true">
        <span class="fill" style={{ width: `${width}%` }} />
      </span>
      <span class="signal-value">{text}</span>
    </span>
  );
}
