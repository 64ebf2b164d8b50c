import type { DefinitionChange } from "../../src/access/diff-definitions.ts";
import { pretty } from "./format.ts";

const MOST = 12;

/** The places where a definition differs from the approved one. */
export function Changes({ changes, isNew }: { changes: readonly DefinitionChange[]; isNew: boolean }) {
  if (changes.length === 0) return null;
  return (
    <details class="changes" open={!isNew}>
      <summary>
        {isNew ? "Everything in it" : `${changes.length} ${changes.length === 1 ? "change" : "changes"}`}
      </summary>
      {changes.slice(0, MOST).map(({ path, before, after }) => (
        <div class="change" key={path}>
          <code class="quiet">{path || "/"}</code>
          {before !== undefined && <del class="outside">{pretty(before)}</del>}
          {after !== undefined && <ins class="outside">{pretty(after)}</ins>}
        </div>
      ))}
      {changes.length > MOST && <p class="quiet small">and {changes.length - MOST} more places</p>}
    </details>
  );
}
