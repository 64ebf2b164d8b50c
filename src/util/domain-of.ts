/** The domain that an op or a route names first. */
export function domainOf(address: string): string {
  return address.split(/[.:/?]/, 1)[0] ?? "";
}
