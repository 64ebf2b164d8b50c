/**
 * Counts the edits between two strings (insert, delete, replace, swap of neighbours). Undefined beyond `limit`.
 * Computes only the band of the table that can stay within the limit.
 */
export function boundedDistance(a: string, b: string, limit: number): number | undefined {
  if (a === b) return 0;
  if (limit < 1 || Math.abs(a.length - b.length) > limit) return undefined;
  const over = limit + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => Math.min(column, over));
  for (let row = 1; row <= a.length; row += 1) {
    const current = new Array<number>(b.length + 1).fill(over);
    if (row <= limit) current[0] = row;
    let best = current[0]!;
    const end = Math.min(b.length, row + limit);
    for (let column = Math.max(1, row - limit); column <= end; column += 1) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + (same ? 0 : 1));
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        cost = Math.min(cost, beforeLast[column - 2]! + 1);
      }
      current[column] = Math.min(cost, over);
      best = Math.min(best, cost);
    }
    if (best > limit) return undefined;
    beforeLast = last;
    last = current;
  }
  const distance = last[b.length]!;
  return distance > limit ? undefined : distance;
}
