import { UNSEEN_IN_COMMAND } from "../../../base/safety/invisible.ts";
import { NotUnderstood, type ParsedShell, Reader, type ReadWord, readWord } from "./read-word.ts";

const MAX_CHARS = 10_000;
const MAX_DEPTH = 20;
const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*\+?=/;
const ASCII = /^[\x21-\x7e]+$/;

/** Compound commands are not followed, so that nothing in them can be misread. */
const RESERVED = new Set(
  "if then else elif fi for while until do done case esac select function [[ ]] ! { } time coproc in".split(
    " ",
  ),
);

/**
 * Reads a shell command as sh, bash and zsh would all read it. Syntax that they read differently, or that is not
 * followed here, is not understood.
 */
export function parseShell(text: string): ParsedShell {
  const refused = refuseText(text);
  if (refused !== undefined) return { ok: false, reason: refused };
  const reader = new Reader(text, parseNested);
  try {
    readList(reader, undefined);
    reader.endHereDocuments();
  } catch (error) {
    if (error instanceof NotUnderstood) return { ok: false, reason: error.reason };
    throw error;
  }
  return { ok: true, ...reader.found };
}

/** The reason not to read a text as a shell command at all. */
function refuseText(text: string): string | undefined {
  if (text.trim() === "") return "it is empty";
  if (text.length > MAX_CHARS) return `it is longer than ${MAX_CHARS} characters`;
  const unseen = UNSEEN_IN_COMMAND.exec(text)?.[0].codePointAt(0);
  if (unseen === undefined) return undefined;
  return `it contains the character U+${unseen.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** Reads commands up to a closing bracket, which is left for the caller, or up to the end. */
function readList(reader: Reader, close: ")" | "}" | undefined): void {
  let expected = true;
  for (;;) {
    reader.skipBlanks({ newlines: true });
    const atEnd = close === undefined ? reader.atEnd() : reader.peek() === close;
    if (atEnd) {
      if (expected) throw new NotUnderstood("a command is missing");
      return;
    }
    readCommand(reader);
    expected = readOperator(reader, close);
  }
}

/** Reads an operator and answers whether another command has to follow. */
function readOperator(reader: Reader, close: ")" | "}" | undefined): boolean {
  reader.skipBlanks();
  if (reader.atEnd() || reader.peek() === "\n") return false;
  if (close === ")" && reader.peek() === ")") return false;
  for (const operator of ["&&", "||"]) if (reader.take(operator)) return true;
  if (reader.take(";;") || reader.take(";&") || reader.take("|&") || reader.take("&>")) {
    throw new NotUnderstood("it has an operator that shells read differently");
  }
  if (reader.take("|")) return true;
  if (reader.take(";") || reader.take("&")) return false;
  throw new NotUnderstood(`${reader.peek()} is not expected there`);
}

function readCommand(reader: Reader): void {
  if (reader.peek() === "(") readEnclosed(reader, "(", ")");
  else if (reader.peek() === "{" && /[ \t\n]/.test(reader.peek(1))) readEnclosed(reader, "{", "}");
  else readSimple(reader);
}

function readEnclosed(reader: Reader, open: string, close: ")" | "}"): void {
  if (reader.peek(1) === "(") throw new NotUnderstood("it has arithmetic");
  reader.take(open);
  reader.nested(MAX_DEPTH, () => readList(reader, close));
  reader.take(close);
  do reader.skipBlanks();
  while (readRedirection(reader));
}

function readSimple(reader: Reader): void {
  const words: ReadWord[] = [];
  let redirected = false;
  for (;;) {
    reader.skipBlanks();
    if (readRedirection(reader)) {
      redirected = true;
      continue;
    }
    const word = readWord(reader);
    if (word === undefined) break;
    words.push(word);
  }
  if (reader.peek() === "(") throw new NotUnderstood("it has a function or a pattern in brackets");
  if (words.length === 0) {
    if (!redirected) throw new NotUnderstood("a command is missing");
    return;
  }
  reader.found.commands.push({ words, assignments: countAssignments(words) });
}

function countAssignments(words: readonly ReadWord[]): number {
  const first = words.findIndex((word) => word.quotedName || !ASSIGNMENT.test(word.text));
  const assignments = first === -1 ? words.length : first;
  const name = words[assignments];
  if (name === undefined) return assignments;
  if (ASSIGNMENT.test(name.text)) throw new NotUnderstood("a program has the name of an assignment");
  if (!name.quoted && RESERVED.has(name.text)) throw new NotUnderstood(`${name.text} is not followed`);
  if (name.literal && !ASCII.test(name.text)) throw new NotUnderstood("a program has an unusual name");
  return assignments;
}

/** Reads the commands of a substitution up to its closing bracket. */
function parseNested(reader: Reader): void {
  reader.nested(MAX_DEPTH, () => readList(reader, ")"));
  reader.take(")");
}

/** The longest operators come first. */
const OPERATORS = ["<<<", "<<-", "<<", "<>", "<&", "<(", "<", ">>", ">|", ">&", ">(", ">"] as const;

/** Reads a redirection if there is one, and answers whether there was. */
function readRedirection(reader: Reader): boolean {
  let digits = 0;
  while (/[0-9]/.test(reader.peek(digits))) digits += 1;
  if (!"<>".includes(reader.peek(digits) || " ")) return false;
  if (digits > 1) throw new NotUnderstood("it has an unusual redirection");
  for (let read = 0; read < digits; read += 1) reader.next();
  const operator = OPERATORS.find((each) => reader.take(each));
  if (operator === undefined) return false;
  if (operator === "<<<") throw new NotUnderstood("it has a here-string");
  if (operator === "<(" || operator === ">(") throw new NotUnderstood("it has a process substitution");
  // `>&>` or `>!`: only some shells know them.
  if ("&!".includes(reader.peek() || " ")) throw new NotUnderstood("it has an unusual redirection");
  reader.skipBlanks();
  const target = readWord(reader);
  if (target === undefined) throw new NotUnderstood("a redirection has no target");
  if (operator === "<<" || operator === "<<-") {
    if (!target.literal || target.text === "" || target.text.includes("\n")) {
      throw new NotUnderstood("a here-document has an unusual end");
    }
    const { text: delimiter, quoted } = target;
    reader.expectHereDocument({ delimiter, quoted, dropsTabs: operator === "<<-" });
  } else if (operator === ">&" || operator === "<&") {
    if (!/^(?:[0-9]{1,3}|-)$/.test(target.text)) throw new NotUnderstood("it has an unusual redirection");
  } else {
    reader.found.redirections.push({ writes: operator !== "<", target });
  }
  return true;
}
