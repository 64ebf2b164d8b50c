import { toExactText } from "../../src/base/safety/visible-text.ts";

const whole = new Intl.NumberFormat("en");
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

export function number(value: number): string {
  return whole.format(Math.round(value));
}

export function compact(value: number): string {
  return value < 10_000 ? number(value) : short.format(value);
}

/** A time that calls took at most. */
export function within(ms: number | undefined): string {
  return ms === undefined ? "–" : `${number(ms)} ms`;
}

export function times(count: number, one: string, many = `${one}s`): string {
  return `${number(count)} ${count === 1 ? one : many}`;
}

const STEPS: readonly (readonly [ms: number, name: string])[] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
];

/** An age in its largest unit, such as `5 min`. */
export function age(at: number, now = Date.now()): string {
  const ms = Math.max(0, now - at);
  const step = STEPS.find(([size]) => ms >= size);
  return step ? `${Math.floor(ms / step[0])} ${step[1]}` : "now";
}

export function ago(at: number | undefined): string {
  if (at === undefined) return "never";
  const text = age(at);
  return text === "now" ? "just now" : `${text} ago`;
}

export function clock(at: number): string {
  return new Date(at).toLocaleTimeString("en-GB");
}

/** A day and a time, such as `2026-05-01 14:03:09`, in the zone of the reader. */
export function dated(at: number | string): string {
  return new Date(at).toLocaleString("sv-SE");
}

/** A value for a person who decides by it: whole, with every hidden character and lookalike letter spelt out. */
export function exact(value: unknown): string {
  return toExactText(pretty(value));
}

/** JSON for a person to read. */
export function pretty(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
