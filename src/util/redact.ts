const MIN_CHARS = 4;
const REPLACEMENT = "[secret]";

/** Replaces secrets in text and in every text of a JSON value. Shorter than four characters is not a secret. */
export function createRedact(secrets: readonly string[]): <T>(value: T) => T {
  const needles = [...new Set(secrets.flatMap(spellings))]
    .filter((needle) => needle.length >= MIN_CHARS)
    .sort((left, right) => right.length - left.length);
  if (needles.length === 0) return (value) => value;
  return (value) => redactValue(value, needles) as typeof value;
}

/** As itself, and as it would stand in a URL or in JSON. */
function spellings(secret: string): string[] {
  const wellFormed = secret.toWellFormed();
  return [secret, encodeURIComponent(wellFormed), JSON.stringify(wellFormed).slice(1, -1)];
}

function redactValue(value: unknown, needles: readonly string[]): unknown {
  if (typeof value === "string") return redactText(value, needles);
  if (Array.isArray(value)) return value.map((part) => redactValue(part, needles));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [redactText(key, needles), redactValue(part, needles)]),
  );
}

function redactText(text: string, needles: readonly string[]): string {
  return needles.reduce((current, needle) => current.replaceAll(needle, () => REPLACEMENT), text);
}
