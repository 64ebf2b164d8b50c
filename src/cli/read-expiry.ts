const UNITS_MS: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};

/** Reads a time from now (`90m`, `12h`, `30d`, `8w`) or a date. Undefined unless it lies in the future. */
export function readExpiry(text: string, now: number): number | undefined {
  const [, count, unit] = /^(\d{1,6})([mhdw])$/.exec(text.trim()) ?? [];
  const isDate = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-]\d{2}:\d{2})?)?$/.test(text.trim());
  const time = unit ? now + Number(count) * UNITS_MS[unit]! : isDate ? Date.parse(text.trim()) : Number.NaN;
  return time > now ? time : undefined;
}
