import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Files of the package that pages may link to, beside the pages. */
export const SHIPPED_FILES = ["README.md", "LICENSE", "settings.schema.json"];

/**
 * The pages as the package has them, by path. Its readers have no clone: links to files that are not shipped lead to
 * the repository, and the code that tests put before a block is left out.
 */
export function shippedPages(repository: string): Map<string, string> {
  const files = globSync("docs/**/*", { withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name))
    .filter((path) => isShipped(path));
  const shipped = new Set([...SHIPPED_FILES, ...files]);
  const pages = [...shipped].filter((path) => path.endsWith(".md"));
  return new Map(
    pages.map((page) => [page, toShipped(page, readFileSync(page, "utf8"), { repository, shipped })]),
  );
}

/** Whether a file of `docs` is in the package. Records of decisions are for people who change the code. */
export function isShipped(path: string): boolean {
  return !path.includes("decisions");
}

interface Shipment {
  readonly repository: string;
  readonly shipped: ReadonlySet<string>;
}

function toShipped(page: string, text: string, { repository, shipped }: Shipment): string {
  const address = repository.replace(/^git\+|\.git$/g, "");
  return text
    .replace(/<!-- setup\n[\s\S]*?-->\n/g, "")
    .replace(/\]\((?!https?:|#)([^)\s#]+)(#[^)\s]+)?\)/g, (link, path: string, anchor = "") => {
      const target = join(dirname(page), path);
      return shipped.has(target) ? link : `](${address}/blob/HEAD/${target}${anchor})`;
    });
}
