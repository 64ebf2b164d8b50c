// The pages of the site that the web tools read.
export const PAGES: Readonly<
  Record<string, { readonly title: string; readonly paragraphs: readonly string[] }>
> = {
  "/guides/rate-limits": {
    title: "Rate limits that people can live with",
    paragraphs: [
      "A rate limit says how many requests a key may make in a window of time.",
      "Answer 429 with a Retry-After header, and say in the body what the limit is & when it ends.",
    ],
  },
  "/guides/planning": {
    title: "Planning in small steps",
    paragraphs: [
      "A plan is a guess about the order of things. Write down what each step depends on.",
      "A step that takes longer than a week is a plan of its own.",
    ],
  },
  "/guides/moving-an-office": {
    title: "Moving an office over a weekend",
    paragraphs: [
      "Lay the cabling four weeks before. Label every desk. Book the movers first, all else follows.",
    ],
  },
  "/studies/soil-sensors": {
    title: "Soil sensors and irrigation: a review",
    paragraphs: [
      "Eleven of fourteen studies found that sensors save water, between 8 % and 31 %.",
      "Sensors at a depth of 30 cm told more than those at 10 cm where x < 40 cm of soil was watered.",
    ],
  },
};
