import { resolve } from "node:path";
import { buildLibraryIndex } from "../../sources/markdown/library-index.ts";

export interface BuildIndexInput {
  readonly words: readonly string[];
  readonly out: string | undefined;
  readonly json: boolean;
}

/** `keyhole index build` */
export async function buildIndex({ words, out, json }: BuildIndexInput): Promise<void> {
  const [directory = "."] = words;
  const built = await buildLibraryIndex(resolve(directory), out ? resolve(out) : undefined);
  if (json) console.log(JSON.stringify(built));
  else {
    console.log(`Files: ${built.files}, fragments among them: ${built.fragments}.`);
    for (const reason of built.problems) console.error(reason);
  }
  if (built.problems.length > 0) process.exitCode = 1;
}
