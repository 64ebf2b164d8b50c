import { readWord } from "./read-word.ts";
import type { Reader } from "./reader.ts";
import { NotUnderstood } from "./shell-command.ts";

/** The longest operators come first. */
const OPERATORS = ["<<<", "<<-", "<<", "<>", "<&", "<(", "<", ">>", ">|", ">&", ">(", ">"] as const;

/** Reads a redirection if there is one, and answers whether there was. */
export function readRedirection(reader: Reader): boolean {
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
