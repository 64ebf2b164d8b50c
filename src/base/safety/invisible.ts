/** Invisible characters, defined only here. Each rule below combines these classes for one purpose. */
const CLASSES = {
  /** Terminals obey them. */
  controls: "\\p{Cc}",
  /** Halves of surrogate pairs. */
  halves: "\\p{Cs}",
  /** Controls, format characters, halves, and characters of private use or without a meaning yet. */
  others: "\\p{C}",
  /** Separators of lines and paragraphs. */
  lineSeparators: "\\p{Zl}\\p{Zp}",
  /** Every kind of space and separator. */
  separators: "\\p{Z}",
  /** They reverse the order of text. */
  bidi: "\\p{Bidi_Control}",
  format: "\\p{Cf}",
  /** Drawn without a glyph: zero-width, joining and tag characters, variation selectors, fillers. */
  ignorable: "\\p{Default_Ignorable_Code_Point}",
  variants: "\\p{Variation_Selector}",
  /** Drawn as a space without being one. */
  blankPattern: "\\u2800",
} as const;

const { controls, halves, others, lineSeparators, separators, bidi, format, ignorable } = CLASSES;

/** Text for models, people, terminals and logs. Keeps unassigned characters, which may be newer; tabs are visible. */
export const HIDDEN = new RegExp(
  `[[${controls}${halves}${lineSeparators}${bidi}${ignorable}]--[\\t\\n]]`,
  "v",
);

/** A value on one line of a signature: nothing that breaks the line or has no glyph. JSON has no halves. */
export const HIDDEN_IN_LINE = new RegExp(`[${controls}${format}${lineSeparators}${ignorable}]`, "gu");

/** A call that a person approves in a client's form: also characters for which the client may lack a glyph. */
export const UNDRAWN = new RegExp(`[${others}${lineSeparators}]`, "gu");

const UNSEEN = `[${separators}--[ ]]|${ignorable}|${CLASSES.blankPattern}`;
/** A command or path that a person checks character by character: only real spaces. Line ends are visible. */
export const UNSEEN_IN_TEXT = new RegExp(`[${others}--[\\n]]|${UNSEEN}`, "gv");
/** The same for a shell command: shells split words at spaces and tabs. */
export const UNSEEN_IN_COMMAND = new RegExp(`[${others}--[\\n\\t]]|${UNSEEN}`, "v");

/** File systems may ignore them in names. */
export const IGNORED_IN_NAMES = new RegExp(ignorable, "gu");

/** Characters that a model skips within a word. */
export const IGNORED_IN_WORDS = new RegExp(`[${format}${CLASSES.variants}]`, "gu");
/** Hidden letters and reversed text, which honest definitions never have. */
export const SMUGGLING = /[\u{E0000}-\u{E007F}\u202A-\u202E\u2066-\u2069]/u;
/** Characters that split a word for a filter but not for a model. */
export const SPLIT_WORD = /[a-z][\u00AD\u200B-\u200D\u2060\uFEFF][a-z]/i;
/** Tag characters that stand for letters. */
export const TAG_LETTERS = /[\u{E0020}-\u{E007E}]/gu;

/** A cell of a table: characters that end a row, or that are invisible. */
export const ENDS_ROW = new RegExp(`[${controls}${lineSeparators}]`, "u");
/** Those that JSON does not escape. */
export const UNESCAPED_BY_JSON = /[\x7f-\x9f\u2028\u2029]/g;
