import { z } from "zod";

/** A text; an empty one counts as not set. */
export const text = z.string().max(4096).optional();

/** A text that becomes part of a URL's path. */
export const pathPart = z
  .string()
  .max(256)
  .regex(/^[\w.-]*$/, "may have letters, digits, dots, dashes and underscores only")
  .optional();

export const url = z
  .union([z.literal(""), z.url({ protocol: /^https?$/, error: "must be an http or https address" })])
  .refine((value) => !/^[^/]*\/\/[^/]*@/.test(value), "must not carry a user name or password")
  .optional();

export function withoutEndSlash(address: string): string {
  return address.endsWith("/") ? withoutEndSlash(address.slice(0, -1)) : address;
}
