import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { Clock } from "keyhole";
import type { ContentFormat, ContentSource, ResourceNode } from "../src/core/nouns/pipeline.ts";
import type { LoopbackApi, Seen } from "./loopback-api.ts";

export type Answer = LoopbackApi["answer"];

export interface TestClock extends Clock {
  readonly waits: number[];
}

export const NOW = Date.parse("2026-05-01T12:00:00Z");

/** A clock whose waits are recorded and end at once. */
export function testClock(): TestClock {
  const waits: number[] = [];
  return {
    waits,
    now: () => NOW,
    monotonic: () => NOW,
    after: (ms, run) => {
      waits.push(ms);
      const timer = setImmediate(run);
      return () => clearImmediate(timer);
    },
  };
}

/** Serves values by URL, or 404. Answers have an ETag and honour it. */
export function serve(find: (url: URL, request: Seen) => Reply | undefined): Answer {
  return (request, response) => {
    const reply = find(new URL(request.url, "http://loopback"), request);
    if (reply === undefined) return send(response, 404, JSON.stringify({ message: "Not Found" }));
    const body = Buffer.isBuffer(reply.value) ? reply.value : Buffer.from(JSON.stringify(reply.value));
    const etag = `"${createHash("sha1").update(body).digest("hex")}"`;
    if (request.headers["if-none-match"] === etag) return send(response, 304, "", { etag });
    return send(response, 200, body, { etag, ...reply.headers });
  };
}

export interface Reply {
  readonly value: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export function send(
  response: ServerResponse,
  status: number,
  body: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
}

/** Returns all nodes of a source's documents as a flat list. */
export async function nodesOf(
  source: ContentSource,
  formats: readonly ContentFormat[],
  basePath = "",
): Promise<ResourceNode[]> {
  const nodes: ResourceNode[] = [];
  for (const document of await source.listDocuments()) {
    const content = await source.fetchContent(document.id);
    const format = formats.find((one) => one.canHandle(content.contentType));
    nodes.push(...flatten(format?.parse(content, basePath) ?? []));
  }
  return nodes;
}

export function flatten(nodes: readonly ResourceNode[]): ResourceNode[] {
  return nodes.flatMap((node) => [node, ...flatten(node.children ?? [])]);
}
