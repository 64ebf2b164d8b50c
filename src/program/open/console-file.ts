import { join } from "node:path";
import type { ListingWay } from "../../gateway/tool-tokens.ts";
import { setStateFolder } from "./user-folders.ts";

/** The file of the console's logins and sums, which all gateways of the person share. */
export function consoleFile(): string {
  return join(setStateFolder(), "console.db");
}

/** How a client would list tools by itself. */
export async function wayOf(client: string): Promise<ListingWay | undefined> {
  return (await import("../clients/clients.ts")).listingOf(client);
}
