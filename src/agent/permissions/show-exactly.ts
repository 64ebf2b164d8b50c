// As in commands that are refused, with the tab: whatever does not show as itself.
const UNSEEN = /[^\P{C}\n]|[^\P{Z} ]|\p{Default_Ignorable_Code_Point}|\u2800/gu;

/** All of a text for a person who decides by it: what does not show as itself is named, nothing is cut. */
export function showExactly(text: string): string {
  return text.replace(UNSEEN, (character) => {
    const point = character.codePointAt(0) ?? 0;
    return `‹U+${point.toString(16).toUpperCase().padStart(4, "0")}›`;
  });
}
