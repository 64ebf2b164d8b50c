/** A code block whose fence the text cannot close. */
export function toCodeBlock(text: string): string {
  const longest = (text.match(/`{3,}/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const mark = "`".repeat(longest + 1);
  return `${mark}\n${text}\n${mark}`;
}
