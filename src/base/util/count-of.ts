/** A number with its noun: `1 problem`, `2 problems`, `0 entries`. */
export function countOf(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`;
}
