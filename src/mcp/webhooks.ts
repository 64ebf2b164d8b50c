import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { LRUCache } from "lru-cache";
import { problem } from "../schema/problem.ts";

/** A source that signed requests to one path refresh. */
export interface Webhook {
  /** The secret that the sender signs bodies with: HMAC SHA-256 in `X-Hub-Signature-256`. */
  readonly secret: string;
  /** The id of the source to refresh. */
  readonly source: string;
}

type WebhookHandler = (
  headers: IncomingHttpHeaders,
  receive: (maxBytes: number) => Promise<Buffer | Response>,
) => Promise<Response>;

const MAX_BODY_BYTES = 4 * 1024 * 1024;
const REMEMBERED = 1_000;
const REMEMBERED_MS = 24 * 60 * 60_000;

/**
 * Creates the handlers of webhooks, by path. A body with the right signature starts a refresh and gets 202 at once.
 * A repeated body gets the same answer and starts nothing, so a recorded request is worthless.
 *
 * @throws `INVALID_INPUT` if a webhook has no secret.
 */
export function createWebhooks(
  webhooks: Readonly<Record<string, Webhook>>,
  refresh: (source: string) => Promise<void>,
): ReadonlyMap<string, WebhookHandler> {
  const seen = new LRUCache<string, true>({ max: REMEMBERED, ttl: REMEMBERED_MS });

  async function handle(
    { secret, source }: Webhook,
    ...[headers, receive]: Parameters<WebhookHandler>
  ): Promise<Response> {
    const given = headers["x-hub-signature-256"];
    if (typeof given !== "string") return plain(401, "X-Hub-Signature-256 is missing.");
    const body = await receive(MAX_BODY_BYTES);
    if (body instanceof Response) return body;
    if (!isSigned(body, secret, given)) return plain(401, "The signature is wrong.");
    // GitHub's delivery id is in an unsigned header, so only the signature identifies a body.
    const key = `${source} ${given}`;
    if (!seen.has(key)) {
      seen.set(key, true);
      // The gateway reports a failure as a notice and in the source's status; the sender can do nothing.
      void refresh(source).catch(() => seen.delete(key));
    }
    return plain(202, "Accepted.");
  }

  return new Map(
    Object.entries(webhooks).map(([path, webhook]): [string, WebhookHandler] => {
      if (webhook.secret === "") {
        throw problem("INVALID_INPUT", {
          operation: "serveHttp",
          reason: `the webhook ${path} has no secret`,
        });
      }
      return [path, (headers, receive) => handle(webhook, headers, receive)];
    }),
  );
}

/** Compares digests, which have one length, in constant time: timing reveals nothing. */
function isSigned(body: Buffer, secret: string, given: string): boolean {
  const right = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(right), digest(given));
}

function plain(status: number, text: string): Response {
  return new Response(text, { status });
}
