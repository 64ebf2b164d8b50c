import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import { parseFrontMatter } from "../../sources/markdown/files/front-matter.ts";
import { readStart } from "../loop/project-files.ts";

const MAX_BYTES = 64 * 1024;

/** A Markdown file that defines a command or a sub-agent. */
export interface MarkdownFile {
  /** The path in its folder: `git/commit.md` is `git:commit`. */
  readonly name: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** The text below the front matter, which is not empty. */
  readonly text: string;
}

/** Reads the Markdown files in these folders of each place. The first file of a name counts. */
export async function readMarkdownFiles(
  places: readonly string[],
  folders: readonly string[],
): Promise<MarkdownFile[]> {
  const files = new Map<string, MarkdownFile>();
  for (const folder of places.flatMap((place) => folders.map((each) => join(place, each)))) {
    for (const path of await markdownIn(folder)) {
      const source = await readStart(join(folder, path), MAX_BYTES);
      const file = source && toFile(path, toVisibleText(source));
      if (file && !files.has(file.name)) files.set(file.name, file);
    }
  }
  return [...files.values()];
}

/** The paths of Markdown files below a folder. */
export async function markdownIn(folder: string): Promise<string[]> {
  const paths = await readdir(folder, { recursive: true }).catch(() => []);
  return paths.filter((path) => /^(?:[\w.-]+\/){0,3}[\w.-]+\.md$/.test(path)).sort();
}

/** Undefined for a file that cannot be read or is empty. */
function toFile(path: string, source: string): MarkdownFile | undefined {
  try {
    const { body, data } = parseFrontMatter(source, path);
    const text = body.trim();
    return text === "" ? undefined : { name: path.slice(0, -".md".length).replaceAll("/", ":"), data, text };
  } catch {
    return undefined;
  }
}
