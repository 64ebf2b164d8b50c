import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { z } from "zod";
import { isProblem, problem } from "../../base/problems/problem.ts";
import { hideSecrets } from "../../base/safety/known-secrets.ts";
import { toVisibleLine } from "../../base/safety/visible-text.ts";
import type { Principal } from "../../core/nouns/principal.ts";
import {
  CALLBACK_PATH,
  LOGIN_PATH,
  type LoginLinks,
  type OpenedLink,
} from "../../sources/mcp/login/login-links.ts";
import type { Exchange, HttpRoute, Receive } from "../mcp/http-routes.ts";
import { isOwnPage, readCookie } from "./console-sessions.ts";
import { defineEndpoint, type Endpoint } from "./endpoints/endpoint.ts";

/** The pages on which people log in to servers. */
export interface LoginPages {
  readonly links: LoginLinks;
  /**
   * Tells who sits at a browser, or answers with the way to tell it. A link then opens for its own person alone. Where
   * it cannot tell, as for the key of an agent, a link opens for whoever has it, and the page says for whom it is.
   */
  readonly whoIs?: (
    request: IncomingMessage,
    person: string,
  ) => Promise<Pick<Principal, "id"> | Response | undefined>;
}

const STYLE =
  "body{font:16px/1.5 system-ui;max-width:34rem;margin:4rem auto;padding:0 1rem}label{display:block;margin:1rem 0}input{display:block;width:100%;font:inherit}button{font:inherit;padding:.4rem 1rem}code{word-break:break-all}";
/** No script runs, nothing is loaded, and no other page shows this one. */
const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "content-security-policy": `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  // Without an origin of its own, a form could not show that it is one of this page.
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};
const COOKIE = "keyhole_login";
const MAX_BYTES = 64 * 1024;
const MAX_VALUE = 8_192;

const GONE = () =>
  page(
    410,
    "This link cannot be used",
    "<p>It was used before, or is too old. Make the call again for another one.</p>",
  );
const FOREIGN = () =>
  page(
    403,
    "This link is for somebody else",
    "<p>Nothing was changed. Ask for a link of your own by a call.</p>",
  );

/** The routes of the pages. A link is for one person, one server and one use. */
export function loginRoutes({ links, whoIs }: LoginPages, receive: Receive): HttpRoute[] {
  /** The refusal of a browser at which another person sits. */
  async function refuse(request: IncomingMessage, person: string): Promise<Response | undefined> {
    const who = await whoIs?.(request, person);
    if (who instanceof Response) return who;
    return who && who.id !== person ? FOREIGN() : undefined;
  }

  /** The link of a request that may use it, or the refusal. */
  async function linkOf(request: IncomingMessage, words: string): Promise<OpenedLink | Response> {
    const link = await links.look(words);
    return link ? ((await refuse(request, link.person)) ?? link) : GONE();
  }

  async function show({ request }: Exchange): Promise<Response> {
    const words = queryOf(request).get("link") ?? "";
    const link = await linkOf(request, words);
    return link instanceof Response ? link : askPage(link, words);
  }

  async function goOn(exchange: Exchange): Promise<Response> {
    const { request } = exchange;
    if (request.headers.origin === undefined || !isOwnPage(request)) return FOREIGN();
    const body = await receive(exchange, { caller: "login", maxBytes: MAX_BYTES });
    if (body instanceof Response) return body;
    const form = new URLSearchParams(body.toString());
    const words = form.get("link") ?? "";
    const link = await linkOf(request, words);
    if (link instanceof Response) return link;
    if (!(await links.spend(words))) return GONE();
    if (form.has("forget")) return forget(link);
    return link.server.fields.length > 0 ? takeValues(links, link, form) : begin(link);
  }

  async function begin(link: OpenedLink): Promise<Response> {
    const { url, state, browser } = await links.begin(link);
    const [to, name] = [toHtml(url.href), cookieOf(state)];
    const secure = links.address()?.startsWith("https:") ? "; Secure" : "";
    return page(
      200,
      `Log in to ${link.server.label}`,
      `<meta http-equiv="refresh" content="0;url=${to}"><p><a href="${to}">Go on to ${toHtml(url.host)}</a></p>`,
      {
        "set-cookie": `${name}=${browser}; Path=${CALLBACK_PATH}; HttpOnly; SameSite=Lax; Max-Age=600${secure}`,
      },
    );
  }

  async function finish({ request }: Exchange): Promise<Response> {
    const answer = queryOf(request);
    const state = answer.get("state") ?? "";
    const browser = readCookie(request.headers.cookie, cookieOf(state)) ?? "";
    const begun = await links.lookBegun(state, browser);
    if (!begun) return GONE();
    const refusal = await refuse(request, begun.person);
    if (refusal) return refusal;
    const isFirst = await links.finish(state, answer);
    return isFirst ? donePage(begun) : GONE();
  }

  return [
    { method: "GET", path: LOGIN_PATH, open: true, handle: told(show) },
    { method: "POST", path: LOGIN_PATH, open: true, handle: told(goOn) },
    { method: "GET", path: CALLBACK_PATH, open: true, handle: told(finish) },
  ];
}

/** Tells a person why a login failed. */
function told(handle: HttpRoute["handle"]): HttpRoute["handle"] {
  return async (exchange) => {
    try {
      return await handle(exchange);
    } catch (error) {
      const reason = isProblem(error)
        ? toVisibleLine(hideSecrets(error.message))
        : "Something is wrong here.";
      return page(502, "Not logged in", `<p>${toHtml(reason)}</p>`);
    }
  };
}

async function askPage({ person, server }: OpenedLink, words: string): Promise<Response> {
  const since = await server.loginOf(person).since();
  const inputs = server.fields.map(
    (name) =>
      `<label>${toHtml(name)}<input type="password" name="value:${toHtml(name)}" autocomplete="off" maxlength="${MAX_VALUE}" required></label>`,
  );
  const forget =
    since === undefined
      ? ""
      : `<p>You have been logged in since ${new Date(since).toUTCString()}. <button name="forget" formnovalidate>Log out</button></p>`;
  const verb = server.fields.length > 0 ? "Keep it for me" : "Log in";
  return page(
    200,
    `Log in to ${server.label}`,
    `<p>For <strong>${toHtml(person)}</strong>, at <code>${toHtml(server.origin)}</code>.</p>
<p>What you allow here can be used by that caller of this gateway. Go on only if that is you, and if you have just asked for it.</p>
<form method="post" action="${LOGIN_PATH}"><input type="hidden" name="link" value="${toHtml(words)}">${inputs.join("")}<p><button>${verb}</button></p>${forget}</form>`,
  );
}

async function takeValues(links: LoginLinks, link: OpenedLink, form: URLSearchParams): Promise<Response> {
  const values = link.server.fields.map((name) => [name, form.get(`value:${name}`)?.trim() ?? ""] as const);
  // A line break would begin another header.
  if (values.some(([, value]) => !/^[\x20-\x7e]{1,8192}$/.test(value)))
    return page(400, "Not kept", "<p>A value is missing, or has characters that no header can have.</p>");
  await links.give(link, Object.fromEntries(values));
  return donePage(link);
}

async function forget(link: OpenedLink): Promise<Response> {
  await link.server.loginOf(link.person).logOut();
  return page(200, "Logged out", `<p>The login to ${toHtml(link.server.label)} was deleted here.</p>`);
}

function donePage({ person, server }: OpenedLink): Response {
  const text = `<p>${toHtml(person)} is logged in to ${toHtml(server.label)}. Close this page and go on.</p>`;
  return page(200, "Logged in", text);
}

function page(status: number, title: string, body: string, headers: Record<string, string> = {}): Response {
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${toHtml(title)}</title><style>${STYLE}</style><h1>${toHtml(title)}</h1>${body}</html>`;
  return new Response(html, { status, headers: { ...HEADERS, ...headers } });
}

/** Several logins of one browser do not disturb each other. */
function cookieOf(state: string): string {
  return `${COOKIE}_${createHash("sha256").update(state).digest("hex").slice(0, 16)}`;
}

function queryOf({ url = "" }: IncomingMessage): URLSearchParams {
  return new URLSearchParams(url.split("?", 2)[1] ?? "");
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function toHtml(text: string): string {
  return toVisibleLine(text).replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}

/** The caller's own logins: which there are and since when, a link to log in, and the end of one. Never the login itself. */
export function loginEndpoints({ links }: LoginPages): Endpoint[] {
  const named = z.object({ server: z.string() });
  const find = (label: string) => {
    const server = links.servers().find((one) => one.label === label);
    if (server) return server;
    throw problem("NOT_FOUND", { name: `The server ${label} with logins of people` });
  };
  return [
    defineEndpoint("GET /api/logins", {
      title: "The servers at which each person logs in, and since when the caller is logged in there.",
      handle: async ({ principal }) => ({
        logins: await Promise.all(
          links.servers().map(async ({ label, loginOf }) => {
            const since = await loginOf(principal.id).since();
            return { server: label, ...(since !== undefined && { since }) };
          }),
        ),
      }),
    }),
    defineEndpoint("POST /api/logins/link", {
      title: "Makes a link by which the caller logs in to a server, or out of it. It works once.",
      input: named,
      handle: async ({ input, principal }) => ({
        url: await links.create(principal.id, find(input.server).loginOf(principal.id).server),
      }),
    }),
    defineEndpoint("POST /api/logins/forget", {
      title: "Deletes the caller's login to a server.",
      input: named,
      handle: async ({ input, principal }) => ({
        wasLoggedIn: await find(input.server).loginOf(principal.id).logOut(),
      }),
    }),
  ];
}
