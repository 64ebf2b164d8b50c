const CUT: ReadonlySet<unknown> = new Set(["ECONNRESET", "EPIPE"]);

/** Whether a code of the network says that the host closed the connection, as it may one that has idled. */
export function isCut(code: unknown): boolean {
  return CUT.has(code);
}
