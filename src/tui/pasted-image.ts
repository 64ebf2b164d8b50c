import { homedir } from "node:os";
import { fileURLToPath } from "node:url";
import { toMention } from "./mentions.ts";

/**
 * The mention of an image whose path was pasted, as terminals write it when a file is dropped on them: plain, quoted,
 * with escaped blanks or as an address. Undefined for other text.
 */
export function pastedImage(pasted: string): string | undefined {
  const text = pasted.trim().replace(/^(['"])(.*)\1$/s, "$2");
  if (text.includes("\n") || !/\.(?:png|jpe?g|gif|webp)$/i.test(text)) return undefined;
  if (/^file:\/\//i.test(text)) {
    try {
      return toMention(fileURLToPath(text));
    } catch {
      return undefined;
    }
  }
  const path = text.replaceAll(/\\(.)/g, "$1");
  if (path.startsWith("~/")) return toMention(`${homedir()}${path.slice(1)}`);
  return /^(?:\/|\.\.?\/)/.test(path) ? toMention(path) : undefined;
}
