import { z } from "zod";
import { createGuardedFetch, type GuardedFetch, hasPrivateAddress } from "../../base/net/guarded-fetch.ts";
import { cutText } from "../../base/util/cut-text.ts";
import type { CallContext } from "../../core/nouns/entry.ts";
import { checkOutside, markOutside } from "../../core/operations/answer-parts.ts";
import type { InCall, Permissions } from "../permissions/permissions.ts";
import { refusal } from "../workspace/tool-problem.ts";

export const fetchInput = z.strictObject({
  url: z.url({ protocol: /^https?$/ }).max(2_000),
});

const MAX_BYTES = 2 * 2 ** 20;
const MAX_CHARS = 30_000;
const READABLE = /^(?:text\/|application\/(?:json|xml|[\w.+-]+\+(?:json|xml)))/i;

/** Reads pages of the web. A person allows each host, also one of this machine or of its network. */
export function createFetchPage(permissions: Pick<Permissions, "web">) {
  const open = createGuardedFetch({ allowHttp: true });
  /** Guards for hosts with private addresses, which the question has named as such. */
  const own = new Map<string, GuardedFetch>();

  async function guardOf(url: URL, call: InCall): Promise<GuardedFetch> {
    const isPrivate = await hasPrivateAddress(url);
    const known = isPrivate ? " It is this machine or one of its network." : "";
    const plain = url.protocol === "http:" ? " The connection is not encrypted." : "";
    const outcome = await permissions.web(url, `${known}${plain}`, call);
    if (!outcome.allowed) throw refusal("web", outcome);
    if (!isPrivate) return open;
    const guard = own.get(url.host) ?? createGuardedFetch({ ownUrl: url });
    own.set(url.host, guard);
    return guard;
  }

  return {
    read: async (address: string, { signal, ask }: Pick<CallContext, "signal" | "ask">): Promise<string> => {
      const url = new URL(address);
      const guarded = await guardOf(url, { signal, ask });
      const headers = { accept: "text/html, text/*, application/json" };
      const response = await guarded(url, { signal, headers });
      const type = response.headers.get("content-type") ?? "text/plain";
      if (!READABLE.test(type)) {
        await response.body?.cancel();
        return `[${response.status}, ${type}: not text, so not shown]`;
      }
      const text = await readText(response);
      const shown = /html/i.test(type) ? toPlain(text) : text;
      const cut = shown.length > MAX_CHARS ? `; the first ${MAX_CHARS} of ${shown.length} characters` : "";
      const content = cutText(shown, MAX_CHARS);
      return `[${response.status} ${type}${cut}]\n${markOutside(content, checkOutside(content, url.host))}`;
    },
    close: async () => {
      await Promise.all([open, ...own.values()].map((guard) => guard.close()));
    },
  };
}

async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    text += decoder.decode(chunk, { stream: true });
    if (bytes > MAX_BYTES) break;
  }
  return text;
}

/** The readable text of a page. Comments and scripts go: no reader of the page sees them. */
function toPlain(html: string): string {
  return withoutHidden(html)
    .replaceAll(/<(?:br|\/p|\/div|\/li|\/tr|\/h[1-6]|\/pre)\b[^<>]*>/gi, "\n")
    .replaceAll(/<li\b[^<>]*>/gi, "- ")
    .replaceAll(/<h([1-6])\b[^<>]*>/gi, (_, level: string) => `\n${"#".repeat(Number(level))} `)
    .replaceAll(/<[^<>]{0,5000}>/g, " ")
    .replaceAll(/&(amp|lt|gt|quot|#39|nbsp);/g, (_, name: string) => ENTITIES[name] ?? " ")
    .replaceAll(/[ \t\r]+/g, " ")
    .replaceAll(/ ?\n[ \n]*\n/g, "\n\n")
    .trim();
}

const HIDDEN = /<!--|<(script|style|noscript|svg)\b/gi;

/** Drops comments, scripts and pictures in one pass; one without an end hides the rest. */
function withoutHidden(html: string): string {
  const lower = html.toLowerCase();
  const kept: string[] = [];
  let at = 0;
  while (at < html.length) {
    HIDDEN.lastIndex = at;
    const found = HIDDEN.exec(html);
    kept.push(html.slice(at, found?.index));
    if (!found) break;
    const end = found[1] === undefined ? "-->" : `</${found[1].toLowerCase()}`;
    const closed = lower.indexOf(end, found.index + 4);
    if (closed === -1) break;
    const after = html.indexOf(">", closed);
    at = after === -1 ? html.length : after + 1;
  }
  return kept.join(" ");
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  "#39": "'",
  nbsp: " ",
};
