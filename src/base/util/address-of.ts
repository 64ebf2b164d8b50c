/** How messages name an entry: tools by op, everything else by route. */
export function addressOf(entry: {
  readonly kind: string;
  readonly op: string;
  readonly route: string;
}): string {
  return entry.kind === "tool" ? entry.op : entry.route;
}
