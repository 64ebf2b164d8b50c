const HINTS: ReadonlyMap<string, string> = new Map([
  ["date-time", "a date and time with its zone, such as 2026-01-31T09:00:00Z"],
  ["datetime", "a date and time with its zone, such as 2026-01-31T09:00:00Z"],
  ["date", "a date, such as 2026-01-31"],
  ["time", "a time with its zone, such as 09:00:00Z"],
  ["duration", "a duration, such as P1DT12H"],
  ["email", "an e-mail address, such as ada@example.com"],
  ["uri", "a URI, such as https://example.com/a"],
  ["url", "a URL, such as https://example.com/a"],
  ["uuid", "a UUID, such as 123e4567-e89b-12d3-a456-426614174000"],
  ["ipv4", "an IPv4 address, such as 192.0.2.1"],
  ["ipv6", "an IPv6 address, such as 2001:db8::1"],
  ["hostname", "a host name, such as api.example.com"],
]);

/** Describes a text format, with an example for the known ones. */
export function formatHint(format: string): string {
  return HINTS.get(format) ?? `text in the format ${JSON.stringify(format.slice(0, 40))}`;
}
