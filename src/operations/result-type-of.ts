import { toResultType } from "../render/result-type.ts";
import type { Entry } from "../schema/entry.ts";
import type { OperationContext } from "./operation.ts";

/** The type of an entry's results: as it declares, else as observed so far and marked so, else unknown. */
export function resultTypeOf(
  entry: Entry,
  { view, services }: Pick<OperationContext, "view" | "services">,
  maxChars: number,
): string | undefined {
  const declared = entry.presentation?.outputSchema;
  if (declared) return toResultType(declared, maxChars);
  const observed = services.shapes.of(view, entry);
  return observed && `${toResultType(observed, maxChars)} (observed)`;
}
