import type { DefinitionChange } from "../../src/core/access/diff-definitions.ts";
import { exact } from "./format.ts";

/** All places where a definition differs from the approved one: a person decides by them. */
export function Changes({ changes, isNew }: { changes: readonly DefinitionChange[]; isNew: boolean }) {
  if (changes.length === 0) return null;
  return (
    <details class="changes" open={!isNew}>
      <summary>
        {isNew ? "Everything in it" : `${changes.length} ${changes.length === 1 ? "change" : "changes"}`}
      </summary>
      {changes.map(({ path, before, after }) => (
        <div class="change" key={path}>
          <code class="quiet">{exact(path || "/")}</code>
          {before !== undefined && <del class="outside">{exact(before)}</del>}
          {after !== undefined && <ins class="outside">{exact(after)}</ins>}
        </div>
      ))}
    </details>
  );
}
