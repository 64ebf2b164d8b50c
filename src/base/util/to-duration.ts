/** Formats a duration for people: `1.5 s`, `40 s`, `4 min 10 s`, `2 h 5 min`. */
export function toDuration(ms: number): string {
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const [whole, part, units] =
    seconds < 3600
      ? [Math.floor(seconds / 60), seconds % 60, ["min", "s"]]
      : [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60), ["h", "min"]];
  return part === 0 ? `${whole} ${units[0]}` : `${whole} ${units[0]} ${part} ${units[1]}`;
}
