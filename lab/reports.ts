/** The text of the report: several lines, quotes and letters beyond ASCII, which clients escape in their own ways. */
export const REPORT = [
  'Quarterly report: "Q3"',
  "region\trevenue",
  ...["Zürich", "São Paulo", "東京"].map((region, index) => `${region}\t${(index + 1) * 1_250} €`),
  "Backslash \\ and emoji 🗝️ stay as they are.",
].join("\n");

/** Rows of one shape, more than an answer holds. */
export const LEDGER = Array.from({ length: 600 }, (_, index) => ({
  booking: index + 1,
  region: ["Zürich", "São Paulo", "東京"][index % 3],
  cents: (index * 7_919) % 100_000,
}));

/** Half of a surrogate pair, which hung two clients. */
export const BROKEN_TEXT = "The damaged letter is \ud83d and the text goes on.";

export const FAILURE = "The archive is closed until Monday.";

/** A picture of one pixel. */
export const LOGO =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
