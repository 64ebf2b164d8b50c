const MAX_CHARS = 10_000;
// Whatever a reader cannot see, and every space but the two that all shells split words at.
const UNSEEN = /[^\P{C}\n\t]|[^\P{Z} ]|\p{Default_Ignorable_Code_Point}|\u2800/u;

/** Why a text is not read as a shell command at all. */
export function refuseText(text: string): string | undefined {
  if (text.trim() === "") return "it is empty";
  if (text.length > MAX_CHARS) return `it is longer than ${MAX_CHARS} characters`;
  const unseen = UNSEEN.exec(text)?.[0].codePointAt(0);
  if (unseen === undefined) return undefined;
  return `it contains the character U+${unseen.toString(16).toUpperCase().padStart(4, "0")}`;
}
