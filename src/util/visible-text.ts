const HIDDEN = /[\p{C}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]/gu;

/**
 * Text from outside for a person who has to judge it: on one line, with everything that a terminal would
 * obey or not show written out, so that nothing in it stays unseen.
 */
export function toVisibleText(text: string): string {
  return text.replace(HIDDEN, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
}
