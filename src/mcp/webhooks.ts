import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { LRUCache } from "lru-cache";
import { problem } from "../schema/problem.ts";
import { readBytes } from "./node-http.ts";

/** A source that signed requests to one path refresh. */
export interface Webhook {
  /** The secret that the sender signs bodies with: HMAC SHA-256 in `X-Hub-Signature-256`. */
  readonly secret: string;
  /** The id of the source to refresh. */
  readonly source: string;
}

type WebhookHandler = (request: IncomingMessage) => Promise<Response>;

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

  async function handle({ secret, source }: Webhook, request: IncomingMessage): Promise<Response> {
    const given = request.headers["x-hub-signature-256"];
    if (typeof given !== "string") return plain(401, "X-Hub-Signature-256 is missing.");
    const body = await readBytes(request, MAX_BODY_BYTES);
    if (!body) return plain(413, `The body is larger than ${MAX_BODY_BYTES} bytes.`);
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
    Object.entries(webhooks).map(([path, webhook]) => {
      if (webhook.secret === "") {
        throw problem("INVALID_INPUT", {
          operation: "serveHttp",
          reason: `the webhook ${path} has no secret`,
        });
      }
      return [path, (request: IncomingMessage) => handle(webhook, request)];
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
