/** The addresses of an entry beside its route. */
export interface OwnAddress {
  readonly addresses: readonly string[];
  /** Set if the library names its scheme. Answers and clients then show this address. */
  readonly uri?: string;
}

/** Gives the addresses of a path such as `agents/types`. */
export type OwnAddresses = (path: string) => OwnAddress;

/** Makes addresses such as `orchestr8://agents/types`. Without a scheme the domain's name takes its place. */
export function createOwnAddresses(domain: string, scheme: string | undefined): OwnAddresses {
  return (path) => {
    const uri = `${scheme ?? domain}://${path}`;
    return { addresses: [uri], ...(scheme !== undefined && { uri }) };
  };
}
