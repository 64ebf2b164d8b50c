import { NotUnderstood, type Redirection, type SimpleCommand } from "./shell-command.ts";

interface HereDocument {
  readonly delimiter: string;
  readonly quoted: boolean;
  readonly dropsTabs: boolean;
}

interface Found {
  readonly commands: SimpleCommand[];
  readonly redirections: Redirection[];
  hasHereDocument: boolean;
}

/** The text of a command, the place of the next character, and the findings so far. */
export interface Reader {
  readonly found: Found;
  atEnd(): boolean;
  /** The next character or a later one; empty past the end. */
  peek(ahead?: number): string;
  /** Moves past the text if it comes next, and answers whether it did. */
  take(text: string): boolean;
  /** Takes one character. */
  next(): string;
  /** Takes the text before the next such character, and moves past that. */
  takeUntil(character: string): string;
  skipBlanks(options?: { newlines: boolean }): void;
  expectHereDocument(document: HereDocument): void;
  endHereDocuments(): void;
  enter(maxDepth: number): void;
  leave(): void;
  /** Reads the commands of a substitution behind its opening bracket, and moves past the closing one. */
  readSubstitution(): void;
  /** Reads commands from another text into the same findings. */
  readOther(text: string): void;
}

/** Creates a reader at the start of a text. */
export function createReader(
  text: string,
  parseNested: (reader: Reader) => void,
  found: Found = { commands: [], redirections: [], hasHereDocument: false },
  startDepth = 0,
): Reader {
  let at = 0;
  let depth = startDepth;
  let pending: HereDocument[] = [];

  const reader: Reader = {
    found,
    atEnd: () => at >= text.length,
    peek: (ahead = 0) => text[at + ahead] ?? "",
    take(wanted) {
      if (!text.startsWith(wanted, at)) return false;
      at += wanted.length;
      return true;
    },
    next() {
      const character = text[at] ?? "";
      if (character === "") throw new NotUnderstood("it ends too early");
      if (character === "\n" && pending.length > 0) throw new NotUnderstood("a here-document starts oddly");
      at += 1;
      return character;
    },
    takeUntil(character) {
      const end = text.indexOf(character, at);
      if (end === -1) throw new NotUnderstood("a quote does not end");
      const taken = text.slice(at, end);
      if (taken.includes("\n") && pending.length > 0) throw new NotUnderstood("a here-document starts oddly");
      at = end + 1;
      return taken;
    },
    skipBlanks({ newlines } = { newlines: false }) {
      for (;;) {
        const character = text[at];
        if (character === " " || character === "\t") at += 1;
        else if (character === "\\" && text[at + 1] === "\n" && " \t".includes(text[at - 1] ?? "")) {
          // Only behind a blank: elsewhere it joins the text around it.
          reader.next();
          reader.next();
        } else if (character === "#") skipComment();
        else if (character === "\n" && newlines) {
          at += 1;
          readHereDocuments();
        } else return;
      }
    },
    expectHereDocument(document) {
      if (depth > 0) throw new NotUnderstood("a here-document stands inside brackets");
      found.hasHereDocument = true;
      pending.push(document);
    },
    endHereDocuments() {
      if (pending.length > 0) throw new NotUnderstood("a here-document does not end");
    },
    enter(maxDepth) {
      depth += 1;
      if (depth > maxDepth) throw new NotUnderstood("it is nested too deeply");
    },
    leave() {
      depth -= 1;
    },
    readSubstitution: () => parseNested(reader),
    readOther(other) {
      const inner = createReader(`${other})`, parseNested, found, depth);
      inner.readSubstitution();
      if (!inner.atEnd()) throw new NotUnderstood("a substitution does not end where it should");
    },
  };

  function skipComment(): void {
    const end = text.indexOf("\n", at);
    at = end === -1 ? text.length : end;
  }

  function readHereDocuments(): void {
    for (const document of pending) readHereDocument(document);
    pending = [];
  }

  function readHereDocument({ delimiter, quoted, dropsTabs }: HereDocument): void {
    for (;;) {
      if (at >= text.length) throw new NotUnderstood("a here-document does not end");
      const newline = text.indexOf("\n", at);
      const end = newline === -1 ? text.length : newline;
      const whole = text.slice(at, end);
      at = newline === -1 ? text.length : newline + 1;
      if ((dropsTabs ? whole.replace(/^\t+/, "") : whole) === delimiter) return;
      if (!quoted && /[$`\\]/.test(whole)) throw new NotUnderstood("a here-document expands");
    }
  }

  return reader;
}
