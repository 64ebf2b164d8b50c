const ENDS = " \t\n;&|<>()";
const NAME = /[A-Za-z0-9_]/;
const SPECIAL = "?$!#@*-";

export interface ReadWord extends ShellWord {
  /** Whether any part was quoted or escaped. */
  readonly quoted: boolean;
  /** Whether that was before the first equals sign, so that the word is no assignment. */
  readonly quotedName: boolean;
}

export function readWord(reader: Reader): ReadWord | undefined {
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

interface HereDocument {
  readonly delimiter: string;
  readonly quoted: boolean;
  readonly dropsTabs: boolean;
}

/** The findings so far: every simple command, and the files that the shell opens. */
interface ReaderMatch {
  readonly commands: SimpleCommand[];
  readonly redirections: Redirection[];
  hasHereDocument: boolean;
}

export class Reader {
  readonly found: ReaderMatch;
  readonly #text: string;
  readonly #parseNested: (reader: Reader) => void;
  #at = 0;
  #depth: number;
  #pending: HereDocument[] = [];

  /** `parseNested` reads the commands of a substitution up to its closing bracket. */
  constructor(text: string, parseNested: (reader: Reader) => void, outer?: Reader) {
    this.#text = text;
    this.#parseNested = parseNested;
    this.found = outer?.found ?? { commands: [], redirections: [], hasHereDocument: false };
    this.#depth = outer ? outer.#depth : 0;
  }

  atEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  /** The next character or a later one; empty past the end. */
  peek(ahead = 0): string {
    return this.#text[this.#at + ahead] ?? "";
  }

  /** Moves past the text if it comes next, and answers whether it did. */
  take(wanted: string): boolean {
    if (!this.#text.startsWith(wanted, this.#at)) return false;
    this.#at += wanted.length;
    return true;
  }

  next(): string {
    const character = this.peek();
    if (character === "") throw new NotUnderstood("it ends too early");
    if (character === "\n" && this.#pending.length > 0)
      throw new NotUnderstood("a here-document starts oddly");
    this.#at += 1;
    return character;
  }

  /** Takes the text before the next such character, and moves past that. */
  takeUntil(character: string): string {
    const end = this.#text.indexOf(character, this.#at);
    if (end === -1) throw new NotUnderstood("a quote does not end");
    const taken = this.#text.slice(this.#at, end);
    if (taken.includes("\n") && this.#pending.length > 0)
      throw new NotUnderstood("a here-document starts oddly");
    this.#at = end + 1;
    return taken;
  }

  skipBlanks({ newlines } = { newlines: false }): void {
    for (;;) {
      const character = this.peek();
      if (character === " " || character === "\t") this.#at += 1;
      else if (
        character === "\\" &&
        this.peek(1) === "\n" &&
        " \t".includes(this.#text[this.#at - 1] ?? "")
      ) {
        // Only behind a blank: elsewhere it joins the text around it.
        this.next();
        this.next();
      } else if (character === "#") this.#at = this.#lineEnd();
      else if (character === "\n" && newlines) {
        this.#at += 1;
        for (const document of this.#pending) this.#readHereDocument(document);
        this.#pending = [];
      } else return;
    }
  }

  expectHereDocument(document: HereDocument): void {
    if (this.#depth > 0) throw new NotUnderstood("a here-document stands inside brackets");
    this.found.hasHereDocument = true;
    this.#pending.push(document);
  }

  endHereDocuments(): void {
    if (this.#pending.length > 0) throw new NotUnderstood("a here-document does not end");
  }

  nested(maxDepth: number, read: () => void): void {
    this.#depth += 1;
    if (this.#depth > maxDepth) throw new NotUnderstood("it is nested too deeply");
    read();
    this.#depth -= 1;
  }

  /** Reads the commands of a substitution behind its opening bracket, and moves past the closing one. */
  readSubstitution(): void {
    this.#parseNested(this);
  }

  /** Reads commands from another text into the same findings. */
  readOther(text: string): void {
    const inner = new Reader(`${text})`, this.#parseNested, this);
    inner.readSubstitution();
    if (!inner.atEnd()) throw new NotUnderstood("a substitution does not end where it should");
  }

  #readHereDocument({ delimiter, quoted, dropsTabs }: HereDocument): void {
    for (;;) {
      if (this.atEnd()) throw new NotUnderstood("a here-document does not end");
      const end = this.#lineEnd();
      const line = this.#text.slice(this.#at, end);
      this.#at = end + 1;
      if ((dropsTabs ? line.replace(/^\t+/, "") : line) === delimiter) return;
      if (!quoted && /[$`\\]/.test(line)) throw new NotUnderstood("a here-document expands");
    }
  }

  #lineEnd(): number {
    const newline = this.#text.indexOf("\n", this.#at);
    return newline === -1 ? this.#text.length : newline;
  }
}

/** A word after the shell has removed its quotes. */
export interface ShellWord {
  readonly text: string;
  /** Whether the shell passes on exactly `text`, because nothing in it expands. */
  readonly literal: boolean;
}

/** A file that the shell itself opens for a command. */
export interface Redirection {
  readonly writes: boolean;
  readonly target: ShellWord;
}

/** One program or builtin with its words. Assignments before it are its first words. */
export interface SimpleCommand {
  readonly words: readonly ShellWord[];
  readonly assignments: number;
}

/** A command in its parts, or the reason that it is not understood. */
export type ParsedShell =
  | {
      readonly ok: true;
      /** Every simple command, with those in substitutions, subshells and groups. */
      readonly commands: readonly SimpleCommand[];
      readonly redirections: readonly Redirection[];
      /** Whether a part of the command gets text in the command as its input. */
      readonly hasHereDocument: boolean;
    }
  | { readonly ok: false; readonly reason: string };

/** Ends the reading of a command that is not understood. */
export class NotUnderstood {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}
