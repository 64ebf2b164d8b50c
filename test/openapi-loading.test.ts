import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Source, SourceContent } from "keyhole";
import { createOpenApiSource, type OpenApiOptions } from "keyhole/sources";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type LoopbackApi, startLoopbackApi } from "./loopback-api.ts";

type EntryDraft = SourceContent["drafts"][number];

const YAML = `openapi: 3.0.0
info: { title: Small }
servers: [{ url: "/{version}", variables: { version: { default: v3 } } }]
paths:
  /a: { get: { summary: Do a } }
  "/twin#one": { get: { operationId: twin } }
  "/twin#two": { get: { operationId: twin } }
`;
const folder = mkdtempSync(join(tmpdir(), "keyhole-openapi-"));
const file = join(folder, "api.yaml");
let api: LoopbackApi;

beforeAll(async () => {
  writeFileSync(file, YAML);
  api = await startLoopbackApi();
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await api.close();
});

async function draftsOf(source: Source): Promise<readonly EntryDraft[]> {
  for await (const { drafts } of source.contents(new AbortController().signal)) return drafts;
  return [];
}

function load(options: OpenApiOptions): Promise<readonly EntryDraft[]> {
  return draftsOf(createOpenApiSource("api", options));
}

async function reasonOf(options: OpenApiOptions): Promise<string> {
  return load(options).then(
    () => "loaded",
    (error: Error) => error.message,
  );
}

const preview = async (draft: EntryDraft | undefined) =>
  draft?.kind === "tool" ? draft.dryRun?.({}, {} as never) : undefined;

describe("a document", () => {
  const baseUrl = "https://api.example.com/v1";

  test("that never arrives is abandoned", async () => {
    const { timeout } = AbortSignal;
    vi.spyOn(AbortSignal, "timeout").mockImplementation(() => timeout.call(AbortSignal, 20));
    for (const answer of [
      () => {},
      (_: unknown, response: ServerResponse) => void response.write("openapi"),
    ]) {
      api.answer = answer;
      const options = { document: `${api.url}/spec`, baseUrl, allowPrivateHosts: [api.host] };
      expect(await reasonOf(options)).toContain("did not arrive in time");
    }
    vi.restoreAllMocks();
  });

  test("comes from a path, a file URL, a URL or an object", async () => {
    api.answer = (_, response) => void response.end(YAML);
    const allowPrivateHosts = [api.host];
    for (const document of [file, pathToFileURL(file), `${api.url}/spec/api.yaml`, new URL(`${api.url}/x`)]) {
      expect(await load({ document, baseUrl, allowPrivateHosts })).toHaveLength(3);
    }
    expect(await load({ document: { openapi: "3.1.0", paths: {} }, baseUrl })).toEqual([]);
  });

  test("names its server relative to itself, with variables", async () => {
    api.answer = (_, response) => void response.end(YAML);
    const [first] = await load({ document: `${api.url}/spec/api.yaml`, allowPrivateHosts: [api.host] });
    expect(await preview(first)).toMatchObject({ would_send: { url: `${api.url}/v3/a` } });
  });

  test("may declare one path twice with different fragments, which are not sent", async () => {
    const drafts = await load({ document: file, baseUrl });
    const twins = drafts.filter(({ name }) => name === "twin");
    expect(twins.map((draft) => draft.kind === "tool" && draft.op)).toEqual(["api.twin", "api.twin_2"]);
    expect(await preview(twins[1])).toMatchObject({ would_send: { url: `${baseUrl}/twin` } });
  });

  test("on a private host is fetched only if allowed", async () => {
    api.seen.length = 0;
    expect(await reasonOf({ document: `${api.url}/api.yaml`, baseUrl })).toMatch(/only https/);
    expect(api.seen).toEqual([]);
  });

  test("may be redirected, but not to a private host", async () => {
    api.answer = ({ url }, response) =>
      url === "/old" ? void response.writeHead(301, { location: "/new" }).end() : void response.end(YAML);
    const options = { document: `${api.url}/old`, baseUrl, allowPrivateHosts: [api.host] };
    expect(await load(options)).toHaveLength(3);
    api.answer = (_, response) =>
      void response.writeHead(302, { location: "https://169.254.169.254/" }).end();
    expect(await reasonOf(options)).toMatch(/linkLocal/);
  });

  test.each([
    [{ document: { swagger: "2.0", paths: {} } }, /Swagger 2/],
    [{ document: { openapi: "4.0.0", paths: {} } }, /openapi: 3/],
    [{ document: { openapi: "3.1.0" } }, /no paths/],
    [
      { document: { openapi: "3.1.0", paths: {} }, headers: { "X-Key": "a\nb" } },
      /header "x-key" cannot be sent/,
    ],
    [{ document: "/nowhere/api.yaml" }, /cannot be read/],
    [{ document: { openapi: "3.1.0", paths: {} }, baseUrl: "" }, /baseUrl is not/],
    [{ document: { openapi: "3.1.0", paths: {} }, baseUrl: "ftp://x" }, /baseUrl is not/],
  ])("%j is refused with the reason", async (options, reason) => {
    expect(await reasonOf({ baseUrl, ...options })).toMatch(reason);
  });

  test("without a server needs a baseUrl; broken text and a missing page are reported", async () => {
    expect(await reasonOf({ document: file })).toMatch(/give baseUrl/);
    writeFileSync(join(folder, "broken.json"), "{ not json");
    expect(await reasonOf({ document: join(folder, "broken.json") })).toMatch(/neither JSON nor YAML/);
    api.answer = (_, response) => void response.writeHead(404).end();
    const options = { document: `${api.url}/x`, allowPrivateHosts: [api.host] };
    expect(await reasonOf(options)).toMatch(/answers 404/);
  });

  test("a billion-laughs document is refused", async () => {
    const laughs = Array.from({ length: 30 }, (_, n) => `l${n + 1}: &l${n + 1} [*l${n}, *l${n}, *l${n}]`);
    writeFileSync(join(folder, "laughs.yaml"), ["openapi: 3.0.0", "l0: &l0 lol", ...laughs].join("\n"));
    expect(await reasonOf({ document: join(folder, "laughs.yaml") })).toMatch(/neither JSON nor YAML/);
  });

  test("a label must be a valid domain name", () => {
    expect(() => createOpenApiSource("no label", { document: {} })).toThrow(/label must be/);
  });
});
