import { spellLookalikes } from "../../util/spell-lookalikes.ts";

/** Characters that do not show as themselves. */
const UNSEEN = /[^\P{C}\n]|[^\P{Z} ]|\p{Default_Ignorable_Code_Point}|\u2800/gu;

/**
 * The whole text for a person who decides by it. Invisible characters and lookalikes are named, such as `‹U+202E›`;
 * nothing is cut, so a face with too little room shows the text in pages.
 */
export function showExactly(text: string): string {
  return spellLookalikes(text.replace(UNSEEN, nameOf), nameOf);
}

function nameOf(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  return `‹U+${point.toString(16).toUpperCase().padStart(4, "0")}›`;
}
