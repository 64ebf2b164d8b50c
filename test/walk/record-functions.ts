// Preloaded into a program: notes the name of every function of `src/` that runs, while `globalThis.walk` is a list.
import { registerHooks, stripTypeScriptTypes } from "node:module";

const FUNCTION = /^[ \t]*(?:export )?(?:async )?function\*? ?(\w+)/gm;

registerHooks({
  load: (url, context, next) => {
    const loaded = next(url, context);
    const [, file] = url.split("/src/");
    if (file === undefined || url.includes("/node_modules/") || !loaded.source) return loaded;
    const source = withNotes(file, stripTypeScriptTypes(loaded.source.toString()));
    return { ...loaded, format: "module", source };
  },
});

/** Code without types, with a note at the beginning of each function. */
function withNotes(file: string, code: string): string {
  const parts: string[] = [];
  let from = 0;
  for (const match of code.matchAll(FUNCTION)) {
    const body = bodyAfter(code, match.index + match[0].length);
    if (body < from) continue;
    parts.push(code.slice(from, body), ` globalThis.walk?.push(${JSON.stringify(`${file} ${match[1]}`)});`);
    from = body;
  }
  return [...parts, code.slice(from)].join("");
}

/** The place behind the brace that opens the body of a function whose parameters begin at `start`. */
function bodyAfter(code: string, start: number): number {
  let depth = 0;
  for (let index = start; index < code.length; index++) {
    if (code[index] === "(") depth += 1;
    if (code[index] === ")") depth -= 1;
    if (code[index] === "{" && depth === 0) return index + 1;
  }
  return -1;
}
