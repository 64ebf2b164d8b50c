/**
 * Characters that a reader cannot see, in one place. Each rule below says which of these classes it looks for and why;
 * no other file has a class of its own.
 */
const CLASSES = {
  /** A terminal obeys them. */
  controls: "\\p{Cc}",
  /** Halves of surrogate pairs. */
  halves: "\\p{Cs}",
  /** Controls, format characters, halves, and characters of private use or without a meaning yet. */
  others: "\\p{C}",
  /** Separators of lines and paragraphs. */
  lineSeparators: "\\p{Zl}\\p{Zp}",
  /** Every kind of space and separator. */
  separators: "\\p{Z}",
  /** They turn the order of the text around. */
  bidi: "\\p{Bidi_Control}",
  format: "\\p{Cf}",
  /** Nothing is drawn for them: zero-width, joining and tag characters, variation selectors, fillers. */
  ignorable: "\\p{Default_Ignorable_Code_Point}",
  variants: "\\p{Variation_Selector}",
  /** Drawn as a space, but no space. */
  blankPattern: "\\u2800",
} as const;

const { controls, halves, others, lineSeparators, separators, bidi, format, ignorable } = CLASSES;

/**
 * Text for models, people, terminals and logs. Unassigned characters are text: they may be newer than this program.
 * Tabs and line ends are seen.
 */
export const HIDDEN = new RegExp(
  `[[${controls}${halves}${lineSeparators}${bidi}${ignorable}]--[\\t\\n]]`,
  "v",
);

/** A value on one line of a signature: nothing that breaks the line or is not drawn. JSON has no halves. */
export const HIDDEN_IN_LINE = new RegExp(`[${controls}${format}${lineSeparators}${ignorable}]`, "gu");

/** A call that a person approves in a form of a client: also what the client may have no sign for. */
export const UNDRAWN = new RegExp(`[${others}${lineSeparators}]`, "gu");

const UNSEEN = `[${separators}--[ ]]|${ignorable}|${CLASSES.blankPattern}`;
/** A command or path that a person judges by every character: spaces have to be spaces. Line ends are seen. */
export const UNSEEN_IN_TEXT = new RegExp(`[${others}--[\\n]]|${UNSEEN}`, "gv");
/** The same in a shell command: all shells split words at spaces and tabs. */
export const UNSEEN_IN_COMMAND = new RegExp(`[${others}--[\\n\\t]]|${UNSEEN}`, "v");

/** A file system may ignore them in names. */
export const IGNORED_IN_NAMES = new RegExp(ignorable, "gu");

/** Characters that a model reads over within a word. */
export const IGNORED_IN_WORDS = new RegExp(`[${format}${CLASSES.variants}]`, "gu");
/** Hidden letters and turned text: no honest text of a definition has them. */
export const SMUGGLING = /[\u{E0000}-\u{E007F}\u202A-\u202E\u2066-\u2069]/u;
/** Characters that split a word for a filter and not for a model. */
export const SPLIT_WORD = /[a-z][\u00AD\u200B-\u200D\u2060\uFEFF][a-z]/i;
/** Tag characters that stand for letters. */
export const TAG_LETTERS = /[\u{E0020}-\u{E007E}]/gu;

/** A cell of a table: characters that end a row, or that a reader would not see. */
export const ENDS_ROW = new RegExp(`[${controls}${lineSeparators}]`, "u");
/** Those of them that JSON leaves as they are. */
export const UNESCAPED_BY_JSON = /[\x7f-\x9f\u2028\u2029]/g;
