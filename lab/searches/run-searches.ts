import { resolve } from "node:path";
import { loadTokenCounter } from "../../src/base/tokens/tokens.ts";
import type { LabClient } from "../lab-client.ts";
import { observe } from "../observe.ts";
import type { RunOptions } from "../run-client.ts";
import { WAYS } from "../tour/tour.ts";
import { CATALOGUE_SIZES, readCatalogue } from "./catalogue.ts";
import { type SearchRow, toSearchRow } from "./rows.ts";
import type { SearchObserved } from "./searches.ts";

/** Runs the searches of one client over all catalogues, directly and behind Keyhole. */
export async function* searchClient(
  client: LabClient,
  data: string,
  { installed, version, serveArgs, keep }: RunOptions,
): AsyncGenerator<SearchRow> {
  const countTokens = await loadTokenCounter();
  for (const size of CATALOGUE_SIZES)
    for (const way of WAYS) {
      const about = { client: client.name, way, size };
      const assignment = { ...about, data, installed, dist: resolve("dist"), serveArgs };
      const observed = await observe<SearchObserved>(import.meta.dirname, assignment, keep);
      if (typeof observed === "string") console.error(`${client.title}, ${way}, ${size} tools: ${observed}`);
      else yield toSearchRow({ ...about, version }, observed, readCatalogue(data, size), countTokens);
    }
}
