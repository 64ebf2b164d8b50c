/** The address of an entry in messages: the op of a tool, otherwise the route. */
export function addressOf(entry: {
  readonly kind: string;
  readonly op: string;
  readonly route: string;
}): string {
  return entry.kind === "tool" ? entry.op : entry.route;
}
