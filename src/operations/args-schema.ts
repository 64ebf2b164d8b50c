import { z } from "zod";

/** Arguments as they came: a record schema would silently drop an argument called `__proto__`. */
export const argsSchema = z
  .custom<Record<string, unknown>>(isRecord, "must be an object")
  .meta({ type: "object" });

function isRecord(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
