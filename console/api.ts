import { toVisibleText } from "../src/base/safety/visible-text.ts";

/** The half of the session that only this page has. The other half is a cookie that no script can read. */
const HALF = "keyhole-console";
const HALF_HEADER = "x-keyhole-console";

/** A refusal, in words for a person. */
export class Refusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Exchanges the code of a one-time link for a session. */
export async function openSession(code: string): Promise<void> {
  const response = await fetch("/console/session", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code }),
  });
  const { half, error } = await response.json();
  if (!response.ok) throw new Refusal(response.status, error?.message ?? "The link does not work.");
  keepHalf(half);
}

/** Keeps the half of a session that a login has opened. */
export function keepHalf(half: string): void {
  localStorage.setItem(HALF, half);
}

export async function endSession(): Promise<void> {
  await fetch("/console/session", { method: "DELETE", headers: headers() }).catch(() => {});
  localStorage.removeItem(HALF);
}

export function get<T>(path: string): Promise<T> {
  return send(path, {});
}

export function post<T>(path: string, body: object = {}, signal?: AbortSignal): Promise<T> {
  return send(path, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "content-type": "application/json" },
    ...(signal && { signal }),
  });
}

/** Posts a request whose answer says why it failed. */
export async function attempt(path: string, body: object): Promise<void> {
  const { ok, reason } = await post<{ ok: boolean; reason?: string }>(path, body);
  if (!ok) throw new Error(reason ?? "It did not work.");
}

/** Told to the page when the gateway does not know its session any more, with the path of the login if there is one. */
export const ENDED = "keyhole-session-ended";

/** The answer as it came, for downloads and streams. */
export async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(path, { ...init, headers: { ...init.headers, ...headers() } });
  if (response.status === 401)
    dispatchEvent(new CustomEvent(ENDED, { detail: response.headers.get("x-keyhole-login") }));
  return response;
}

async function send<T>(path: string, init: RequestInit): Promise<T> {
  const response = await ask(path, init).catch((error: unknown) => {
    if (init.signal?.aborted) throw error;
    throw new Refusal(0, "The gateway does not answer. Is it still running?");
  });
  const value = parse(await response.text());
  if (response.ok) return value as T;
  const { error } = (value ?? {}) as { error?: { message?: string; next?: string } };
  throw new Refusal(response.status, [error?.message, error?.next].filter(Boolean).join(" ") || "Refused.");
}

/** Nothing invisible gets into the page: characters that hide, turn or control text are spelt out here, once. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text, (_, value) => (typeof value === "string" ? toVisibleText(value) : value));
  } catch {
    return undefined;
  }
}

function headers(): Record<string, string> {
  return { [HALF_HEADER]: localStorage.getItem(HALF) ?? "" };
}
