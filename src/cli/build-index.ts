import { resolve } from "node:path";
import { problem } from "../schema/problem.ts";
import { buildLibraryIndex } from "../sources/markdown/build-library-index.ts";
import { FLAG, readWordsAndArgs, TEXT } from "./read-args.ts";

const USAGE = `Usage: keyhole index build [DIRECTORY] [options]

Indexes the Markdown files under prompts/, fragments/ (or resources/) and rules/ of the directory
(default: this one), so that a start reads one file instead of all of them.

  --out DIRECTORY  where to write the index (default: .index in the directory)
  --scheme NAME    the scheme of the library's URIs, which the index then names
  --json           print the result as JSON
  -h, --help

Exits with 1 if files were left out, and names them.`;

export async function run(args: readonly string[]): Promise<void> {
  const { positionals, values } = readOptions(args);
  const [what, directory = ".", ...rest] = positionals;
  if (values.help) return console.log(USAGE);
  if (what !== "build" || rest.length > 0) throw invalid("the usage is keyhole index build [DIRECTORY]");
  const built = await buildLibraryIndex(resolve(directory), {
    ...(values.out && { out: resolve(values.out) }),
    ...(values.scheme && { scheme: values.scheme }),
  });
  if (values.json) console.log(JSON.stringify(built));
  else {
    const { files, fragments, scenarios, keywords } = built;
    console.log(
      `${files} files, ${fragments} of them fragments, with ${scenarios} scenarios and ${keywords} keywords.`,
    );
    for (const reason of built.problems) console.error(reason);
  }
  if (built.problems.length > 0) process.exitCode = 1;
}

function readOptions(args: readonly string[]) {
  return readWordsAndArgs("index", args, {
    out: TEXT,
    scheme: TEXT,
    json: FLAG,
  });
}

function invalid(reason: string) {
  return problem("INVALID_INPUT", { operation: "index", reason });
}
