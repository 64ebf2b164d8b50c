import { describe, expect, test } from "vitest";
import * as rules from "./invisible.ts";

/** Each rule as it stood where it was used before, by which nothing may be weaker. */
const BEFORE: Readonly<Record<keyof typeof rules, RegExp>> = {
  HIDDEN: /[[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]--[\t\n]]/v,
  HIDDEN_IN_LINE: /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u,
  UNDRAWN: /[\p{C}\p{Zl}\p{Zp}]/u,
  UNSEEN_IN_TEXT: /[^\P{C}\n]|[^\P{Z} ]|\p{Default_Ignorable_Code_Point}|\u2800/u,
  UNSEEN_IN_COMMAND: /[^\P{C}\n\t]|[^\P{Z} ]|\p{Default_Ignorable_Code_Point}|\u2800/u,
  IGNORED_IN_NAMES: /\p{Default_Ignorable_Code_Point}/u,
  IGNORED_IN_WORDS: /[\p{Cf}\p{Variation_Selector}]/u,
  SMUGGLING: /[\u{E0000}-\u{E007F}\u202A-\u202E\u2066-\u2069]/u,
  SPLIT_WORD: /[a-z][\u00AD\u200B-\u200D\u2060\uFEFF][a-z]/i,
  TAG_LETTERS: /[\u{E0020}-\u{E007E}]/u,
  ENDS_ROW: /[\p{Cc}\p{Zl}\p{Zp}]/u,
  UNESCAPED_BY_JSON: /[\x7f-\x9f\u2028\u2029]/,
};

const RULES: Readonly<Record<keyof typeof rules, RegExp>> = { ...rules };

describe("rules for invisible characters", () => {
  test.each(Object.keys(BEFORE) as (keyof typeof rules)[])("%s finds exactly its characters", (name) => {
    const [rule, before] = [new RegExp(RULES[name].source, RULES[name].flags.replace("g", "")), BEFORE[name]];
    const differing: string[] = [];
    for (let point = 0; point <= 0x10ffff; point += 1) {
      const text = name === "SPLIT_WORD" ? `a${String.fromCodePoint(point)}b` : String.fromCodePoint(point);
      if (rule.test(text) !== before.test(text)) differing.push(point.toString(16));
    }
    expect(differing).toEqual([]);
  });

  test("each rule for people and models finds what turns or hides text", () => {
    for (const character of ["\u202e", "\u200b", "\u2066", "\u{e0041}", "\u2028", "\u001b"]) {
      for (const name of [
        "HIDDEN",
        "HIDDEN_IN_LINE",
        "UNDRAWN",
        "UNSEEN_IN_TEXT",
        "UNSEEN_IN_COMMAND",
      ] as const)
        expect([name, character, character.search(RULES[name])]).toEqual([name, character, 0]);
    }
  });
});
