import { resolve } from "node:path";
import { problem } from "../schema/problem.ts";
import { toVisibleLine } from "../util/visible-text.ts";
import { confirm } from "./confirm.ts";
import { FLAG, readWordsAndArgs, TEXT } from "./read-args.ts";
import { giveTrust, showRequest, takeTrust, trustRequest } from "./trust-folder.ts";

const USAGE = `Usage: keyhole trust [FOLDER] [options]

Shows what Keyhole would run, start and read to a model in a folder (default: this one), and asks whether you trust
it. The trust holds for the folder's real path until something changes that can run.

  --end        end the trust in the folder
  --yes HASH   agree without a terminal to exactly what was listed under this hash
  -h, --help`;

export async function run(args: readonly string[]): Promise<void> {
  const { values, positionals } = readWordsAndArgs("trust", args, {
    end: FLAG,
    yes: TEXT,
  });
  if (values.help) return console.log(USAGE);
  const [folder = ".", ...more] = positionals;
  if (more.length > 0) throw problem("INVALID_INPUT", { operation: "trust", reason: "too many arguments" });
  const request = await trustRequest(resolve(folder));
  const name = toVisibleLine(request.contents.folder);
  if (values.end) {
    const had = await takeTrust(request);
    return console.log(had ? `${name} is no longer trusted.` : `${name} was not trusted.`);
  }
  console.log(showRequest(request).join("\n"));
  const agreed = await confirm({
    operation: "trust",
    action: "Trusting a folder",
    question: "Trust this folder as it is now?",
    hash: request.hash,
    yes: values.yes,
  });
  if (agreed) await giveTrust(request);
  else process.exitCode = 1;
  console.log(agreed ? `${name} is trusted.` : `${name} is not trusted.`);
}
