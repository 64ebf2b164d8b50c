import { z } from "zod";
import type { GuardedFetch } from "../../base/net/guarded-fetch.ts";
import { problem } from "../../base/problems/problem.ts";
import { cutText } from "../../base/util/cut-text.ts";
import type { CallContext } from "../../core/nouns/entry.ts";
import { checkOutside, markOutside } from "../../core/operations/answer-parts.ts";
import { showExactly } from "../permissions/to-request.ts";

export const fetchInput = z.strictObject({
  url: z.url({ protocol: /^https?$/ }).max(2_000),
});

const MAX_BYTES = 2 * 2 ** 20;
const MAX_CHARS = 30_000;
const READABLE = /^(?:text\/|application\/(?:json|xml|[\w.+-]+\+(?:json|xml)))/i;

/** Reads pages of the web. A person allows each host once for the session. */
export function createFetchPage(guarded: GuardedFetch) {
  const allowed = new Set<string>();
  return async (url: string, { signal, ask }: Pick<CallContext, "signal" | "ask">): Promise<string> => {
    const { host } = new URL(url);
    if (!allowed.has(host)) await permit(url, host, allowed, ask);
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
    return `[${response.status} ${type}${cut}]\n${markOutside(content, checkOutside(content, host))}`;
  };
}

async function permit(
  url: string,
  host: string,
  allowed: Set<string>,
  ask: CallContext["ask"],
): Promise<void> {
  const answer = await ask?.({
    scope: "web",
    action: showExactly(`read from the web: ${url}`),
    reason: `Nothing was read from ${host} in this session. The address itself may tell the host something.`,
    always: [],
  });
  if (typeof answer === "object" && "by" in answer && answer.lasts) allowed.add(host);
  if (answer === true || (typeof answer === "object" && "by" in answer)) return;
  if (!answer) throw problem("APPROVAL_REQUIRED", { name: `Reading from ${host}`, because: "" });
  const said = typeof answer === "object" ? `, and says: ${answer.declined}` : "";
  throw problem("APPROVAL_DECLINED", { name: `reading from ${host}`, said });
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
