import { resolve } from "node:path";
import { buildLibraryIndex } from "../../sources/markdown/library-index.ts";
import { defineCommand } from "../terminal/define-command.ts";
import { JSON_OUTPUT } from "../terminal/shared-options.ts";

export const index = defineCommand({
  name: "index",
  page: "knowledge.md",
  words: { build: "[DIRECTORY]" },
  about: `Indexes the Markdown files under prompts/, fragments/ (or resources/) and rules/ of the directory (default:
    this one), so that a start reads one file instead of all of them.`,
  options: {
    out: { takes: "DIRECTORY", help: "where to write the index (default: .index in the directory)" },
    json: JSON_OUTPUT,
  },
  notes: "Exits with 1 if files were left out, and names them.",
  run: async ({ words: [directory = "."], out, json }) => {
    const built = await buildLibraryIndex(resolve(directory), out ? resolve(out) : undefined);
    if (json) console.log(JSON.stringify(built));
    else {
      console.log(`Files: ${built.files}, fragments among them: ${built.fragments}.`);
      for (const reason of built.problems) console.error(reason);
    }
    if (built.problems.length > 0) process.exitCode = 1;
  },
});
