import type { Gateway } from "../gateway-api.ts";
import type { SourceStatus } from "../live-sources.ts";
import { reasonOf } from "../util/reason-of.ts";
import { toVisibleLine } from "../util/visible-text.ts";
import { withProgress } from "./with-progress.ts";

/**
 * Lists sources again, all at once, with progress in a terminal. Returns why some could not be listed, by id.
 *
 * @param wanted Chooses the sources by the age of their content. Default: those that are not fresh.
 */
export async function listServers(
  gateway: Gateway,
  wanted: (status: SourceStatus) => boolean = ({ isFresh }) => !isFresh,
): Promise<Map<string, string>> {
  const failures = new Map<string, string>();
  const open = new Set((await gateway.sources.status()).filter(wanted).map(({ id }) => id));
  const one = async (id: string) => {
    await gateway.sources.refresh(id).catch((error: unknown) => failures.set(id, reasonOf(error)));
    open.delete(id);
  };
  const names = () => [...open].map((id) => id.slice(id.indexOf(":") + 1)).join(", ");
  await withProgress(
    () => toVisibleLine(`Listing ${names()}`),
    () => Promise.all([...open].map(one)),
  );
  return failures;
}
