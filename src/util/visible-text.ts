import { cutText } from "./cut-text.ts";
import { lazy } from "./lazy.ts";
import { spellLookalikes } from "./spell-lookalikes.ts";

/**
 * Characters that a terminal obeys or that a reader cannot see: controls, halves of surrogate pairs, line separators,
 * bidi controls, zero-width and tag characters. Unassigned characters are text: they may be newer than this program.
 */
const HIDDEN = /[[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]--[\t\n]]/v;
const EACH_HIDDEN = new RegExp(HIDDEN.source, "gv");
const LINE_ENDS = /\r\n|[\t\n]/g;

/** Scripts that shape their letters with joiners. */
const JOINING = ["Arab", "Syrc", "Mong", "Nkoo", "Mand", "Deva", "Beng", "Guru", "Gujr", "Orya", "Taml"]
  .concat(["Telu", "Knda", "Mlym", "Sinh", "Khmr", "Mymr", "Tibt"])
  .map((script) => `\\p{sc=${script}}`)
  .join("");
const RIGHT_TO_LEFT = "\\p{scx=Arab}\\p{scx=Hebr}\\p{scx=Syrc}\\p{scx=Thaa}\\p{scx=Nkoo}";
const MARK = "[\\u200E\\u200F\\u061C]";
/** A neighbour that is hidden itself will be spelt out, so nothing is needed beside it. */
const SEEN = "--\\p{Default_Ignorable_Code_Point}]";
/** Hidden characters that the text of some languages and emoji need, in the places where they need them. */
const needed = lazy(
  () =>
    new RegExp(
      [
        "\\r(?=\\n)",
        `(?<=[[${JOINING}]${SEEN})[\\u200C\\u200D](?=[[\\p{L}\\p{M}]${SEEN})`,
        `(?<=\\p{L})[\\u200C\\u200D](?=[[${JOINING}]${SEEN})`,
        // Some words end with a mark and a joiner.
        `(?<=[[[${JOINING}]&&\\p{M}]${SEEN})\\u200D(?!${MARK}|[\\u200C\\u200D])`,
        "(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}]|\\p{Emoji}\\uFE0F)\\u200D(?=\\p{Extended_Pictographic})",
        "(?<=\\p{Emoji})[\\uFE0E\\uFE0F]",
        `(?<=[[${RIGHT_TO_LEFT}]${SEEN} ?)${MARK}(?!${MARK})`,
        `(?<!${MARK})${MARK}(?= ?[[${RIGHT_TO_LEFT}]${SEEN})`,
      ].join("|"),
      "vy",
    ),
);

/**
 * Makes outside text fit for a model, a person, a terminal and a log: spells out every character that a reader would
 * not see, as JSON spells it (`\u001b`). Nothing is dropped, JSON stays the same JSON, and text of all languages,
 * emoji, tabs and line ends stay. Twice changes nothing more.
 */
export function toVisibleText(text: string, maxChars?: number): string {
  const spelt = spell(text);
  if (maxChars === undefined || spelt.length <= maxChars) return spelt;
  // The cut may separate a joiner from the letter that needs it.
  return cutText(spell(cutText(spelt, maxChars)), maxChars);
}

/** {@link toVisibleText} for a person who has to judge every character: lookalikes are spelt out too. */
export function toExactText(text: string): string {
  return spellLookalikes(toVisibleText(text), spellUnits);
}

/** {@link toExactText} on one line. */
export function toVisibleLine(text: string): string {
  return toExactText(text).replace(LINE_ENDS, spellUnits);
}

/** Whether a name or value that must stay as it is has characters that {@link toVisibleText} would spell out. */
export function hidesText(text: string): boolean {
  return HIDDEN.test(text) && spell(text) !== text;
}

/** Plain text is recognised many times faster than hidden characters are. */
const UNUSUAL = /[^\t\n\x20-\x7e]/;

/** No others are {@link NEEDED}, and looking around each takes long. */
const MAY_BE_NEEDED = new Set("\r\u200c\u200d\ufe0e\ufe0f\u200e\u200f\u061c");

function spell(text: string): string {
  if (!UNUSUAL.test(text) || !HIDDEN.test(text)) return text;
  return text.replace(EACH_HIDDEN, (character, at: number) => {
    if (!MAY_BE_NEEDED.has(character)) return spellUnits(character);
    const isNeeded = needed();
    isNeeded.lastIndex = at;
    return isNeeded.test(text) ? character : spellUnits(character);
  });
}

const spelt = new Map<string, string>();

/** A text may hide millions of characters, of which there are a few thousand. */
function spellUnits(characters: string): string {
  const known = spelt.get(characters);
  if (known !== undefined) return known;
  const units = characters.split("").map((unit) => unit.charCodeAt(0).toString(16).padStart(4, "0"));
  const made = units.map((unit) => `\\u${unit}`).join("");
  if (spelt.size < MOST_SPELT) spelt.set(characters, made);
  return made;
}

const MOST_SPELT = 8_192;

const ODD = /[^\x20-\x7e]/;

/** Escapes the same characters within JSON, whose value stays the same. */
export function toVisibleJson(json: string): string {
  if (!ODD.test(json)) return json;
  return json.replace(EACH_HIDDEN, spellUnits);
}
