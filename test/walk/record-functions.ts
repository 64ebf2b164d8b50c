// Preloaded into a program: notes the name of every function of `src/` that runs, while `globalThis.walk` is a list.
import { registerHooks, stripTypeScriptTypes } from "node:module";

const FUNCTION = /^[ \t]*(?:export )?(?:async )?function\*? ?(\w+)/gm;
const CLASS = /^(?:export )?(?:abstract )?class [\s\S]+?^\}$/gm;
const METHOD = /^ {2}(?:private |protected )?(?:async )?\*?(?!constructor)#?(\w+)(?:<\w+>)?(?=\()/gm;

registerHooks({
  load: (url, context, next) => {
    const loaded = next(url, context);
    const [, file] = url.split("/src/");
    if (file === undefined || url.includes("/node_modules/") || !loaded.source) return loaded;
    const source = withNotes(file, loaded.source.toString());
    return { ...loaded, format: "module", source };
  },
});

/** Code without types, with a note at the beginning of each function. */
function withNotes(file: string, source: string): string {
  // Types become spaces, so every place stays the same.
  const code = stripTypeScriptTypes(source);
  const functions = [...source.matchAll(FUNCTION), ...methodsIn(source)]
    .map(({ 0: { length }, 1: name, index }) => ({ name, body: bodyAfter(code, index + length) }))
    .sort((one, other) => one.body - other.body);
  const parts: string[] = [];
  let from = 0;
  for (const { name, body } of functions) {
    if (body < from) continue;
    parts.push(code.slice(from, body), ` globalThis.walk?.push(${JSON.stringify(`${file} ${name}`)});`);
    from = body;
  }
  return [...parts, code.slice(from)].join("");
}

/** The methods of classes, without abstract ones. */
function methodsIn(source: string): RegExpExecArray[] {
  return [...source.matchAll(CLASS)].flatMap((whole) =>
    [...whole[0].matchAll(METHOD)].map((match) => Object.assign(match, { index: whole.index + match.index })),
  );
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
