import { refusedCursor } from "./protocol-errors.ts";

const PAGE = 1_000;

/**
 * Returns one page of a list. A cursor belongs to one version of the list; after a change the client starts again.
 *
 * @throws a protocol error for an unknown or outdated cursor.
 */
export function toPage<T>(
  items: readonly T[],
  version: string,
  cursor: string | undefined,
): { page: T[]; nextCursor?: string } {
  const offset = cursor === undefined ? 0 : readCursor(cursor, version);
  const end = offset + PAGE;
  return {
    page: items.slice(offset, end),
    ...(end < items.length && { nextCursor: Buffer.from(`${version}:${end}`).toString("base64url") }),
  };
}

function readCursor(cursor: string, version: string): number {
  const [of, offset] = Buffer.from(cursor.slice(0, 128), "base64url").toString("latin1").split(":");
  if (of !== version || !offset || !/^\d{1,9}$/.test(offset)) throw refusedCursor();
  return Number(offset);
}
