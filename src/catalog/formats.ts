import type { Format } from "ajv";
import { fastFormats, fullFormats } from "ajv-formats/dist/formats.js";

const MAX_URL = 8192;

/**
 * The formats that are checked, each in linear time. URI and e-mail are checked leniently: refusing what the tool
 * would accept does more harm than the reverse.
 */
export const FORMATS: ReadonlyMap<string, Format> = new Map(
  Object.entries({
    ...fullFormats,
    uri: fastFormats.uri,
    "uri-reference": fastFormats["uri-reference"],
    email: fastFormats.email,
    // The library's own `url` backtracks quadratically, and its `regex` builds one from the text.
    url: (text: string) => text.length <= MAX_URL && /^(?:https?|ftp):/i.test(text) && URL.canParse(text),
    regex: true,
  } satisfies Record<string, Format>),
);
