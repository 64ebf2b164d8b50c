import type { Exchange, Receive, Route } from "../mcp/router.ts";
import { type ConsoleSessions, isOwnPage } from "./console-sessions.ts";

const MAX_BYTES = 1_024;
const STRANGER = "console";

/** Exchanges the code of a one-time link for a session, and ends sessions. A page of another origin can do neither. */
export function sessionRoutes(sessions: ConsoleSessions, receive: Receive, onOpened: () => void): Route[] {
  async function open(exchange: Exchange): Promise<Response> {
    const { request } = exchange;
    if (request.headers.origin === undefined || !isOwnPage(request))
      return refuse(403, "Not from this page.");
    const body = await receive(exchange, { caller: STRANGER, maxBytes: MAX_BYTES });
    if (body instanceof Response) return body;
    const opened = sessions.open(readCode(body), request.headers.host ?? "");
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
      handle: ({ request }) =>
        Response.json({ ok: true }, { headers: { "set-cookie": sessions.end(request) } }),
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
