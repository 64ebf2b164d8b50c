import type { AskOutput } from "../operations/ask-input.ts";
import type { Explanation } from "../search/port/search-index.ts";

/** Writes what `ask` found for a person: one block for each hit, and why it was found if the answer says so. */
export function showAsk(output: AskOutput): string {
  const { hits, rules, notes, suggestions, omitted, explanations = {} } = output;
  const found = hits.map((hit, index) => {
    const why = explanations[hit.route] as Explanation | undefined;
    const marks = [
      ...(hit.lane === "read" ? [] : [hit.lane]),
      ...(hit.entryPoint ? ["a way in"] : []),
      ...(hit.unavailable ? [`unavailable, ${hit.unavailable}`] : []),
    ];
    return [
      `${index + 1}. ${hit.route}${hit.signature ?? ""}${marks.length > 0 ? `  [${marks.join("; ")}]` : ""}`,
      ...(hit.summary ? [`   ${hit.summary}`] : []),
      ...(why ? [`   why: ${reasonsOf(why).join("; ")}`] : []),
    ].join("\n");
  });
  return [
    ...notes,
    ...found,
    ...rules.map(({ domain, text }) => `Rule of ${domain}: ${text}`),
    ...(suggestions.length > 0 ? [`Near names: ${suggestions.join(", ")}`] : []),
    ...(omitted > 0 ? [`${omitted} more left out: --max-tokens or --limit shows more.`] : []),
  ].join("\n");
}

function reasonsOf({ exactName, lexical, vector, learned, terms }: Explanation): string[] {
  const words = terms.map(({ term, score, fields }) => `${term} ${score.toFixed(2)} (${fields.join(", ")})`);
  return [
    ...(exactName ? ["the query names it"] : []),
    ...(lexical > 0 ? [`words ${lexical.toFixed(2)}: ${words.join(", ")}`] : []),
    ...(vector === undefined ? [] : [`meaning ${vector.toFixed(2)}`]),
    ...(learned === undefined ? [] : [`past use +${learned.toFixed(2)}`]),
  ];
}
