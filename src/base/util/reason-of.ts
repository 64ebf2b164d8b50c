/** The message of a caught value, which need not be an Error. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
