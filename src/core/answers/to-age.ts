const UNITS: readonly (readonly [string, number])[] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
];

/** Writes a time span in its largest whole unit, such as `2 h`. */
export function toAge(ms: number): string {
  const [name, length] = UNITS.find(([, unit]) => ms >= unit) ?? ["s", 1_000];
  return `${Math.max(0, Math.floor(ms / length))} ${name}`;
}
