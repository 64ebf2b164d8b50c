import { arch, homedir, platform, release } from "node:os";
import { corePrompt, type PromptFacts } from "../agent/core-prompt.ts";
import { promptPath } from "../config/settings-path.ts";
import { substitute } from "../sources/markdown/substitute.ts";
import { readRegularFile } from "../util/read-regular-file.ts";
import { toVisibleText } from "../util/visible-text.ts";

const MAX_BYTES = 32 * 1024;
const VARIABLES = ["core", "folder", "system", "date"] as const;

/**
 * The prompt of the terminal agent: the `.keyhole/prompt.md` of the project, if the folder is trusted, or of the user;
 * otherwise Keyhole's own. In a file, `${core}` is Keyhole's own prompt, and `${folder}`, `${system}` and `${date}`
 * are its facts.
 */
export async function readSystemPrompt(
  folder: string,
  trusted: boolean,
  home: string = homedir(),
): Promise<string> {
  const facts = factsOf(folder);
  const core = corePrompt(facts);
  for (const place of trusted ? [folder, home] : [home]) {
    const bytes = await readRegularFile(promptPath(place), MAX_BYTES);
    const text = bytes && toVisibleText(new TextDecoder().decode(bytes, { stream: true })).trim();
    if (!text) continue;
    const declared = VARIABLES.map((name) => ({ name, description: "", required: false }));
    return substitute(text, declared, { ...facts, core });
  }
  return core;
}

function factsOf(folder: string): PromptFacts {
  const now = new Date();
  const day = now.toLocaleDateString("en", { weekday: "long" });
  const date = [now.getFullYear(), now.getMonth() + 1, now.getDate()].map((part) =>
    String(part).padStart(2, "0"),
  );
  return { folder, system: `${platform()} ${release()} (${arch()})`, date: `${day}, ${date.join("-")}` };
}
