const HIDDEN = /[\p{C}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]/gu;

/**
 * Writes outside text for a person who has to judge it: on one line, with control and invisible characters spelt
 * out as `\u{…}`.
 */
export function toVisibleText(text: string): string {
  return text.replace(HIDDEN, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
}
