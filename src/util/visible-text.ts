const HIDDEN = /[\p{C}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]/gu;

/**
 * Writes outside text for a person who has to judge it: on one line, with control and invisible characters spelt
 * out as `\u{…}`.
 */
export function toVisibleText(text: string): string {
  return text.replace(HIDDEN, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
}

const ODD = /[^\x20-\x7e]/;

/** Escapes the same characters within JSON, whose value stays the same. */
export function toVisibleJson(json: string): string {
  if (!ODD.test(json)) return json;
  return json.replace(HIDDEN, (character) => {
    const units = character.split("").map((unit) => unit.charCodeAt(0).toString(16));
    return units.map((unit) => `\\u${unit.padStart(4, "0")}`).join("");
  });
}
