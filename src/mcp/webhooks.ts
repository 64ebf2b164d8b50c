import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { LRUCache } from "lru-cache";
import { problem } from "../schema/problem.ts";
import { readBytes } from "./node-http.ts";

/** What a request to one path may set off. */
export interface Webhook {
  /** Shared with the sender, who signs bodies with it: HMAC SHA-256 in `X-Hub-Signature-256`. */
  readonly secret: string;
  /** The id of the source that is read again. */
  readonly source: string;
}

type WebhookHandler = (request: IncomingMessage) => Promise<Response>;

const MAX_BODY_BYTES = 4 * 1024 * 1024;
const REMEMBERED = 1_000;
const REMEMBERED_MS = 24 * 60 * 60_000;

/**
 * A body with the right signature sets off a refresh and is answered with 202 at once. The same signed body
 * again is answered and does nothing more: whoever overheard one gains nothing by it.
 */
export function createWebhooks(
  webhooks: Readonly<Record<string, Webhook>>,
  refresh: (source: string) => Promise<void>,
): ReadonlyMap<string, WebhookHandler> {
  const seen = new LRUCache<string, true>({ max: REMEMBERED, ttl: REMEMBERED_MS });

  async function handle({ secret, source }: Webhook, request: IncomingMessage): Promise<Response> {
    if (request.method !== "POST") return plain(405, "Only POST.", { allow: "POST" });
    const given = request.headers["x-hub-signature-256"];
    if (typeof given !== "string") return plain(401, "X-Hub-Signature-256 is missing.");
    const body = await readBytes(request, MAX_BODY_BYTES);
    if (!body) return plain(413, `The body is larger than ${MAX_BODY_BYTES} bytes.`);
    if (!isSigned(body, secret, given)) return plain(401, "The signature is not right.");
    // GitHub tells deliveries apart in a header that nobody signs, so the signed body is what counts.
    const key = `${source} ${given}`;
    if (!seen.has(key)) {
      seen.set(key, true);
      // Its failure is a notice of the gateway and in the status of the source; the sender can do nothing.
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

/** Compared by digests: they have one length, and how much of them is right takes no time to find out. */
function isSigned(body: Buffer, secret: string, given: string): boolean {
  const right = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(right), digest(given));
}

function plain(status: number, text: string, headers: Record<string, string> = {}): Response {
  return new Response(text, { status, headers });
}
