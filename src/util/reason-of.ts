/** What a caught value says: anything may be thrown, and what others throw often is no Error. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
