import { showValue } from "./describe-value.ts";
import { nearest } from "./nearest.ts";

const MAX_NAMES = 12;

/** Says that a name is missing, and which of the given names is probably meant for it. */
export function missingMessage(missing: string, given: readonly string[], known: readonly string[]): string {
  const unknown = new Set(given).difference(new Set(known));
  const [meant] = nearest(missing, unknown, 1);
  if (meant === undefined) return "is required";
  return `is required; rename ${showValue(meant)} to ${showValue(missing)} if you meant that`;
}

/** Says that a name is unknown, and the nearest unused name, or all names. */
export function unknownMessage(
  name: string,
  given: readonly string[],
  known: readonly string[],
): { message: string; nearest?: string } {
  const [best] = nearest(name, new Set(known).difference(new Set(given)), 1);
  if (best !== undefined) return { message: `is not known; did you mean ${showValue(best)}?`, nearest: best };
  if (known.length === 0) return { message: "is not known; none is accepted here" };
  const shown = known.slice(0, MAX_NAMES).map(showValue).join(", ");
  const more = known.length > MAX_NAMES ? ` and ${known.length - MAX_NAMES} more` : "";
  return { message: `is not known; the names are ${shown}${more}` };
}
