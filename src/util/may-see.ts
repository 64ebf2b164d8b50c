/** The one decision on access: every scope of the entry is among the principal's. */
export function maySee(
  principal: { readonly scopes: readonly string[] },
  entry: { readonly scopes: readonly string[] },
): boolean {
  return entry.scopes.every((scope) => principal.scopes.includes(scope));
}
