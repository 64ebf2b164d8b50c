import { createHash, randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { z } from "zod";
import { reasonOf } from "../../base/util/reason-of.ts";
import { revoked } from "../../core/access/grants.ts";
import type { Principal } from "../../core/nouns/principal.ts";
import { openRecords, type RecordStorage, type Records } from "../../core/storage/records.ts";
import type { Exchange, HttpRoute, Receive } from "../mcp/http-routes.ts";

/** Carries the half of a session that only the page itself has, with each request. */
export const HALF_HEADER = "x-keyhole-console";
const COOKIE = "keyhole_console";
const MAX_SESSIONS = 1_000;
const MAX_CODES = 16;
const SESSION_MS = 12 * 3_600_000;
const CODE_MS = 24 * 3_600_000;

/** Use is noted this often at most. */
const NOTE_MS = 10 * 60_000;
/** When a session was used last, or a code was made, in milliseconds since 1970, and whose it is. Without claims: the owner's. */
const timeSchema = z.object({
  usedAt: z.number(),
  claims: z.record(z.string(), z.unknown()).exactOptional(),
});
type Time = z.infer<typeof timeSchema>;

type ConsoleSessions = ReturnType<typeof createConsoleSessions>;

/**
 * The sessions of people at the console. A session has two halves: a cookie that no script can read, and a value that
 * the page keeps. Browsers send cookies to all ports of a host, so the cookie alone opens nothing. Only digests are
 * stored.
 */
export function createConsoleSessions(
  principal: Principal,
  storage: RecordStorage,
  toPerson?: (claims: Readonly<Record<string, unknown>>) => Principal,
) {
  const codes = openRecords(storage, "code", timeSchema);
  const sessions = openRecords(storage, "session", timeSchema);
  /** Codes on their way to the storage. */
  let writing: Promise<unknown> = Promise.resolve();

  const note = (key: string, claims?: Readonly<Record<string, unknown>>) =>
    sessions.change(new Map([[key, { usedAt: Date.now(), ...(claims && { claims }) }]]));

  async function add(host: string, claims?: Readonly<Record<string, unknown>>) {
    const [half, other] = [secret(), secret()];
    const kept = new Set([...(await current(sessions, SESSION_MS)).keys()].slice(1 - MAX_SESSIONS));
    await sessions.change(revoked([...sessions.entries().keys()].filter((key) => !kept.has(key))));
    await note(toKey(half, other), claims);
    return { half, cookie: toCookie(host, other) };
  }

  async function noteCode(key: string): Promise<void> {
    const kept = new Set([...(await current(codes, CODE_MS)).keys()].slice(1 - MAX_CODES));
    const dropped = revoked([...codes.entries().keys()].filter((known) => !kept.has(known)));
    await codes.change(new Map([...dropped, [key, { usedAt: Date.now() }]]));
  }

  return {
    /** A code that opens one session, once. */
    createCode: () => {
      const code = secret();
      // A code that cannot be kept opens nothing, and the person asks for another one.
      writing = writing.then(() => noteCode(digest(code))).catch(() => {});
      return code;
    },
    /** The half for the page and the value of Set-Cookie; undefined for a code that is unknown, used or old. */
    open: async (code: string, host: string) => {
      await writing;
      const key = digest(code);
      // Whichever gateway removes it, the others find it used.
      if (!(await current(codes, CODE_MS)).has(key) || (await codes.change(revoked([key]))) === 0)
        return undefined;
      return add(host);
    },
    /** Opens the session of a person who has logged in. It ends twelve hours later, however it is used. */
    openFor: (claims: Readonly<Record<string, unknown>>, host: string) => add(host, claims),
    /** The principal of a request that carries both halves and comes from the console's own page. */
    find: async (request: IncomingMessage, renews = true): Promise<Principal | undefined> => {
      const key = isOwnPage(request) ? keyOf(request) : undefined;
      const session = key === undefined ? undefined : (await current(sessions, SESSION_MS)).get(key);
      if (key === undefined || !session) return undefined;
      if (session.claims) return personOf(session.claims, toPerson);
      if (renews && Date.now() - session.usedAt > NOTE_MS) void note(key).catch(() => {});
      return principal;
    },
    /** Ends the session of a request. Resolves to the value of Set-Cookie. */
    end: async (request: IncomingMessage) => {
      const key = keyOf(request);
      if (key !== undefined) await sessions.change(revoked([key]));
      return `${toCookie(request.headers.host ?? "", "")}; Max-Age=0`;
    },
  };
}

/** Undefined for somebody who has no rights any more, and where nobody logs in any more. */
function personOf(
  claims: Readonly<Record<string, unknown>>,
  toPerson: ((claims: Readonly<Record<string, unknown>>) => Principal) | undefined,
): Principal | undefined {
  try {
    return toPerson?.(claims);
  } catch {
    return undefined;
  }
}

const VISIT_COOKIE = "keyhole_visit";
const VISIT_MS = 10 * 60_000;

/** Browsers whose person has just logged in, for pages that only that person may use. They open no console. */
export function createVisits(
  storage: RecordStorage,
  toPerson: (claims: Readonly<Record<string, unknown>>) => Principal,
) {
  const visits = openRecords(storage, "visit", timeSchema);
  return {
    /** Begins a visit. Resolves to the value of Set-Cookie, for the pages below a path. */
    open: async (claims: Readonly<Record<string, unknown>>, host: string, path: string) => {
      const visit = secret();
      const young = await current(visits, VISIT_MS);
      const old = revoked([...visits.entries().keys()].filter((key) => !young.has(key)));
      await visits.change(new Map([...old, [digest(visit), { usedAt: Date.now(), claims }]]));
      const lasts = `HttpOnly; SameSite=Lax; Max-Age=${VISIT_MS / 1_000}`;
      return `${cookieName(host, VISIT_COOKIE)}=${visit}; Path=${path}; ${lasts}`;
    },
    /** The person at a browser. Undefined if nobody has logged in there of late. */
    personOf: async ({ headers }: IncomingMessage): Promise<Principal | undefined> => {
      const visit = readCookie(headers.cookie, cookieName(headers.host ?? "", VISIT_COOKIE));
      const found = visit === undefined ? undefined : (await current(visits, VISIT_MS)).get(digest(visit));
      return found?.claims && personOf(found.claims, toPerson);
    },
  };
}

/** The records of now, the oldest first. A storage that cannot be read now leaves them as they were. */
async function current(records: Records<Time>, maxMs: number): Promise<Map<string, Time>> {
  await Promise.resolve()
    .then(records.refresh)
    .catch(() => {});
  const young = [...records.entries()].filter(([, { usedAt }]) => Date.now() - usedAt < maxMs);
  return new Map(young.sort(([, one], [, other]) => one.usedAt - other.usedAt));
}

/** Whether a request comes from a page of the very address that it is sent to. */
export function isOwnPage({ headers }: IncomingMessage): boolean {
  const { origin, host = "", "sec-fetch-site": site } = headers;
  if (site !== undefined && site !== "same-origin") return false;
  return origin === undefined || origin === `http://${host}` || origin === `https://${host}`;
}

/** Lookups by digest: timing reveals nothing about the secrets. */
function keyOf({ headers }: IncomingMessage): string | undefined {
  const half = headers[HALF_HEADER];
  const other = readCookie(headers.cookie, cookieName(headers.host ?? ""));
  return typeof half === "string" && other ? toKey(half, other) : undefined;
}

/** No half contains the dot, so that nothing of one half can stand in the other. */
function toKey(half: string, other: string): string {
  return digest(`${half}.${other}`);
}

function toCookie(host: string, value: string): string {
  return `${cookieName(host)}=${value}; Path=/; HttpOnly; SameSite=Strict`;
}

/** Gateways on other ports of the same host must not overwrite it. */
export function cookieName(host: string, name = COOKIE): string {
  const port = /:(\d+)$/.exec(host)?.[1];
  return port === undefined ? name : `${name}_${port}`;
}

export function readCookie(header: string | undefined, name: string): string | undefined {
  const pairs = (header ?? "").split(";").map((pair) => pair.trim().split("=", 2));
  return pairs.find(([key]) => key === name)?.[1];
}

export function secret(): string {
  return randomBytes(32).toString("base64url");
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

const MAX_BYTES = 1_024;

/** Exchanges the code of a one-time link for a session, and ends sessions. A page of another origin can do neither. */
export function sessionRoutes(
  sessions: ConsoleSessions,
  receive: Receive,
  onOpened: () => void,
): HttpRoute[] {
  async function open(exchange: Exchange): Promise<Response> {
    const { request } = exchange;
    if (request.headers.origin === undefined || !isOwnPage(request))
      return refuse(403, "Not from this page.");
    const body = await receive(exchange, { caller: "console", maxBytes: MAX_BYTES });
    if (body instanceof Response) return body;
    const opened = await sessions.open(readCode(body), request.headers.host ?? "").catch(reasonOf);
    if (typeof opened === "string") return refuse(503, `The session cannot be kept: ${opened}`);
    if (!opened) return refuse(401, "The link was used before, or is too old.");
    onOpened();
    const headers = { "set-cookie": opened.cookie, "cache-control": "no-store" };
    return Response.json({ half: opened.half }, { headers });
  }

  return [
    { method: "POST", path: "/console/session", open: true, handle: open },
    {
      method: "DELETE",
      path: "/console/session",
      handle: async ({ request }) =>
        Response.json({ ok: true }, { headers: { "set-cookie": await sessions.end(request) } }),
    },
  ];
}

function readCode(body: Buffer): string {
  try {
    const { code } = JSON.parse(body.toString()) as { code?: unknown };
    return typeof code === "string" ? code : "";
  } catch {
    return "";
  }
}

function refuse(status: number, message: string): Response {
  return Response.json({ ok: false, error: { message } }, { status });
}
