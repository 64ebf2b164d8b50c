import type { Reader } from "./reader.ts";
import { NotUnderstood, type ShellWord } from "./shell-command.ts";

const ENDS = " \t\n;&|<>()";
const NAME = /[A-Za-z0-9_]/;
const SPECIAL = "?$!#@*-";

export interface Word extends ShellWord {
  /** Whether any part was quoted or escaped. */
  readonly quoted: boolean;
  /** Whether that was before the first equals sign, so that the word is no assignment. */
  readonly quotedName: boolean;
}

/** Reads the next word, if there is one. */
export function readWord(reader: Reader): Word | undefined {
  let text = "";
  let literal = true;
  let quoted = false;
  let quotedName = false;
  let started = false;
  const quote = () => {
    quoted = true;
    if (!text.includes("=")) quotedName = true;
  };

  while (!reader.atEnd() && !ENDS.includes(reader.peek())) {
    const before = started ? text.at(-1) : undefined;
    started = true;
    const character = reader.next();
    if (character === "'") {
      quote();
      text += reader.takeUntil("'");
    } else if (character === '"') {
      quote();
      const inside = readDoubleQuoted(reader);
      text += inside.text;
      literal &&= inside.literal;
    } else if (character === "\\") {
      quote();
      text += readEscaped(reader);
    } else if (character === "$" || character === "`") {
      const expansion = readExpansion(reader, character, "outside");
      text += expansion.text;
      literal &&= expansion.literal;
    } else {
      if (expands(character, before)) literal = false;
      text += character;
    }
  }
  if (!started) return undefined;
  // Alone, these are the test command and the placeholder of find.
  if (!quoted && ["[", "]", "{}"].includes(text)) literal = true;
  return { text, literal, quoted, quotedName };
}

/** Globs, braces, home folders, and forms that only some shells expand. */
function expands(character: string, before: string | undefined): boolean {
  if ("*?[]{}^".includes(character)) return true;
  if (character === "~") return before === undefined || before === "=" || before === ":";
  return character === "=" && before === undefined;
}

function readDoubleQuoted(reader: Reader): ShellWord {
  let text = "";
  let literal = true;
  for (;;) {
    const character = reader.next();
    if (character === '"') return { text, literal };
    if (character === "\\") {
      const escaped = readEscaped(reader);
      text += '$`"\\'.includes(escaped) ? escaped : `\\${escaped}`;
    } else if (character === "$" || character === "`") {
      const expansion = readExpansion(reader, character, "quoted");
      text += expansion.text;
      literal &&= expansion.literal;
    } else text += character;
  }
}

/** A line break inside a word can hide the word that its parts make. */
function readEscaped(reader: Reader): string {
  const escaped = reader.next();
  if (escaped === "\n") throw new NotUnderstood("a line ends inside a word");
  return escaped;
}

/** Reads an expansion behind its dollar or backtick. Its text only marks the place. */
function readExpansion(reader: Reader, opener: "$" | "`", where: "outside" | "quoted"): ShellWord {
  if (opener === "`") {
    readBackticks(reader);
    return { text: "`…`", literal: false };
  }
  const next = reader.peek();
  if (next === "(") {
    if (reader.peek(1) === "(") throw new NotUnderstood("it has arithmetic");
    reader.next();
    reader.readSubstitution();
    return { text: "$(…)", literal: false };
  }
  if (next === "{") return { text: readBraces(reader), literal: false };
  if (next === "[") throw new NotUnderstood("it has arithmetic");
  if (where === "outside" && (next === "'" || next === '"')) {
    throw new NotUnderstood("it has quotes that shells read differently");
  }
  if (next !== "" && SPECIAL.includes(next)) return { text: `$${reader.next()}`, literal: false };
  if (!NAME.test(next)) return { text: "$", literal: next === "" || !"+=^~:".includes(next) };
  let name = "";
  while (NAME.test(reader.peek())) name += reader.next();
  return { text: `$${name}`, literal: false };
}

function readBackticks(reader: Reader): void {
  let inner = "";
  for (;;) {
    const character = reader.next();
    if (character === "`") break;
    if (character !== "\\") {
      inner += character;
      continue;
    }
    // Shells remove backslashes between backticks in different ways.
    throw new NotUnderstood("it has a backslash between backticks");
  }
  reader.readOther(inner);
}

/** Reads a plain name in braces: every other form can run code. */
function readBraces(reader: Reader): string {
  reader.next();
  const name = reader.takeUntil("}");
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) throw new NotUnderstood("it has an expansion with operators");
  return `\${${name}}`;
}
