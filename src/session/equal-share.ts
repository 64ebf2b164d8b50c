/** The most that each may keep, at least one, so that together they fit into the room. */
export function equalShare(counts: readonly number[], room: number): number {
  let left = room;
  const ascending = counts.toSorted((one, other) => one - other);
  for (const [index, count] of ascending.entries()) {
    const sharing = ascending.length - index;
    if (count * sharing > left) return Math.max(1, Math.floor(left / sharing));
    left -= count;
  }
  return room;
}
