const INVISIBLE =
  /(?!\n)[\p{Cc}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]|(?! )\p{Zs}|\p{Cs}/gu;

/** The text with everything that a reader could not see, or could take for something else, as its number. */
export function showExactly(text: string): string {
  return text.replace(INVISIBLE, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
}
