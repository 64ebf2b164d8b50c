/** Tells whether a network error code means that the host closed the connection, for example an idle one. */
export function isCut(code: unknown): boolean {
  return code === "ECONNRESET" || code === "EPIPE";
}
