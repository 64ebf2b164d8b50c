import { isSimulated } from "../calls/make-call.ts";
import { toContentText } from "../render/content-text.ts";
import type { Json } from "../util/json.ts";
import { markOutside } from "./mark-outside.ts";
import { type Shown, storedText } from "./show-result.ts";

interface Result extends Omit<Shown, "content"> {
  readonly content: unknown;
  readonly dry_run?: boolean | undefined;
}

/** Writes a result for a model. A model that tried a call knows its args. */
export function resultText({ content, stored, outside, dry_run }: Result): string {
  if (dry_run && isSimulated(content)) return "Would run with these args.";
  return `${storedText(stored)}${markOutside(toContentText((content ?? null) as Json), outside)}`;
}
