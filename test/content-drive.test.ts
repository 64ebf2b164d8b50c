import { generateKeyPairSync } from "node:crypto";
import { importSPKI, jwtVerify } from "jose";
import type { DriveSourceOptions } from "keyhole/sources";
import { expect, onTestFinished, test } from "vitest";
import { createTextFormat } from "../src/sources/content/formats/content-formats.ts";
import { createMarkdownFormat } from "../src/sources/content/formats/markdown-format.ts";
import { createDriveSource } from "../src/sources/content/sources/drive-source.ts";
import { describeFaults } from "./content-faults.ts";
import { type Answer, NOW, nodesOf, type Reply, send, serve, testClock } from "./content-kit.ts";
import { startLoopbackApi } from "./loopback-api.ts";

const { privateKey, publicKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
  publicKeyEncoding: { type: "spki", format: "pem" },
});
const TOKEN = "ya29.secret-token-0123456789";
const GOOGLE = "application/vnd.google-apps";
const csv = Buffer.from("name,price\npen,1\n");
const files = [
  fileOf("doc1", "Travel policy", `${GOOGLE}.document`),
  { ...fileOf("csv1", "prices.csv", "text/csv"), size: String(csv.length) },
  fileOf("img1", "logo.png", "image/png"),
  fileOf("sheet1", "Budget", `${GOOGLE}.spreadsheet`),
];

describeFaults("Drive", {
  open: ({ baseUrl, ...options }) => open(baseUrl, options),
  answer: () => google,
  secret: TOKEN,
  isApart: ({ url }) => url === "/token",
});

test("Drive: reads all pages, exports documents as Markdown, and keeps files unchanged", async () => {
  const { api, source } = await start();
  const documents = await source.listDocuments();
  expect(documents.map(({ id, contentType }) => [id, contentType])).toEqual([
    ["doc1", "text/markdown"],
    ["csv1", "text/csv"],
    ["sheet1", "text/csv"],
  ]);
  expect(documents[0]).toMatchObject({ name: "Travel policy", version: "7", metadata: { path: "doc1" } });
  const nodes = await nodesOf(source, [createMarkdownFormat(), createTextFormat()], "drive");
  expect(nodes.map(({ path }) => path)).toEqual([
    "drive/doc1",
    "drive/doc1/trains",
    "drive/csv1",
    "drive/sheet1",
  ]);
  expect(nodes[2]?.content).toBe(csv.toString());
  expect(api.seen.filter(({ url }) => url === "/token")).toHaveLength(1);
});

test("Drive: the account signs the claim, with the read-only scope", async () => {
  const { api, source } = await start({ subject: "mona@example.com" });
  await source.listDocuments();
  const form = new URLSearchParams(api.seen.find(({ url }) => url === "/token")?.body.toString());
  expect(form.get("grant_type")).toBe("urn:ietf:params:oauth:grant-type:jwt-bearer");
  const key = await importSPKI(publicKey, "RS256");
  const { payload, protectedHeader } = await jwtVerify(form.get("assertion") ?? "", key, {
    issuer: "reader@project.iam.example",
    audience: `${api.url}/token`,
    subject: "mona@example.com",
    currentDate: new Date(NOW),
  });
  expect(payload).toMatchObject({
    scope: "https://www.googleapis.com/auth/drive.readonly",
    exp: NOW / 1000 + 3600,
  });
  expect(protectedHeader).toMatchObject({ alg: "RS256", kid: "key-1" });
  expect(api.seen.find(({ url }) => url !== "/token")?.headers.authorization).toBe(`Bearer ${TOKEN}`);
});

test("Drive: a refused token is renewed once", async () => {
  const { api, source } = await start();
  let refused = 0;
  api.answer = (request, response) => {
    if (request.url === "/token" || refused++ > 0) return google(request, response);
    return send(response, 401, '{"error":{"code":401,"message":"Invalid Credentials"}}');
  };
  expect(await source.listDocuments()).toHaveLength(3);
  expect(api.seen.filter(({ url }) => url === "/token")).toHaveLength(2);
});

test("Drive: each folder is read once, and names in queries are quoted", async () => {
  const { api, source } = await start({ folderIds: ["root'1"], query: "starred = true" });
  api.answer = (request, response) => {
    const q = new URL(request.url, "http://x").searchParams.get("q") ?? "";
    if (!q) return google(request, response);
    const parent = /'((?:\\.|[^'])*)' in parents/.exec(q)?.[1];
    const isFolders = q.includes(`mimeType = '${GOOGLE}.folder'`);
    const folders = { "root\\'1": ["sub"], sub: ["root'1"] }[String(parent)] ?? [];
    const found = isFolders
      ? folders.map((id) => fileOf(id, id, `${GOOGLE}.folder`))
      : [fileOf(`in-${parent}`, "x", `${GOOGLE}.document`)];
    if (!isFolders) expect(q).toContain("(starred = true)");
    return send(
      response,
      200,
      JSON.stringify({ kind: "drive#fileList", incompleteSearch: false, files: found }),
    );
  };
  expect((await source.listDocuments()).map(({ id }) => id)).toEqual(["in-root\\'1", "in-sub"]);
});

test("Drive: incomplete searches and incomplete files are failures", async () => {
  const { api, source } = await start();
  api.answer = serve((url) => {
    if (url.pathname === "/token")
      return { value: { access_token: TOKEN, expires_in: 3599, token_type: "Bearer" } };
    if (url.pathname === "/files") return { value: { incompleteSearch: true, files } };
    return url.searchParams.has("alt") ? { value: csv.subarray(3) } : { value: files[1] };
  });
  await expect(source.listDocuments()).rejects.toMatchObject({ code: "SOURCE_INVALID" });
  await expect(source.fetchContent("csv1")).rejects.toThrow("did not arrive whole");
});

test("Drive: a rejected claim and an invalid key need a login", async () => {
  const { api, source } = await start();
  const reason = { error: "invalid_grant", error_description: "Invalid JWT Signature." };
  api.answer = (_, response) => send(response, 400, JSON.stringify(reason));
  await expect(source.listDocuments()).rejects.toMatchObject({
    code: "LOGIN_NEEDED",
    message: expect.stringContaining("Invalid JWT Signature."),
  });
  const broken = open(api.url, {}, "no key");
  const error = await broken.listDocuments().catch((caught: unknown) => caught);
  expect(error).toMatchObject({ code: "LOGIN_NEEDED" });
  expect(JSON.stringify(error)).not.toContain("no key");
});

function open(baseUrl: string, options: Partial<DriveSourceOptions>, key: string = privateKey) {
  const account = {
    client_email: "reader@project.iam.example",
    private_key: key,
    private_key_id: "key-1",
    token_uri: `${baseUrl}/token`,
  };
  return createDriveSource({ account, baseUrl, ...options });
}

async function start(options: Partial<DriveSourceOptions> = {}) {
  const api = await startLoopbackApi();
  onTestFinished(() => api.close());
  api.answer = google;
  return { api, source: open(api.url, { allowPrivateHosts: [api.host], clock: testClock(), ...options }) };
}

const google: Answer = serve(drive);

/** Answers like the API, with two items per page. */
function drive(url: URL): Reply | undefined {
  const { pathname, searchParams } = url;
  if (pathname === "/token")
    return { value: { access_token: TOKEN, expires_in: 3599, token_type: "Bearer" } };
  if (pathname === "/files") {
    const isSecond = searchParams.get("pageToken") === "~!!~AI9";
    const page = isSecond ? files.slice(2) : files.slice(0, 2);
    const more = isSecond ? {} : { nextPageToken: "~!!~AI9" };
    return { value: { kind: "drive#fileList", incompleteSearch: false, files: page, ...more } };
  }
  const [, id, isExport] = /^\/files\/(\w+)(\/export)?$/.exec(pathname) ?? [];
  const file = files.find((one) => one.id === id);
  if (!file) return undefined;
  if (isExport && searchParams.get("mimeType") === "text/markdown") {
    return { value: Buffer.from("# Travel\n\nGo there.\n\n## Trains\n\nBefore planes.\n") };
  }
  if (isExport || searchParams.get("alt") === "media") return { value: csv };
  return { value: file };
}

function fileOf(id: string, name: string, mimeType: string) {
  return {
    id,
    name,
    mimeType,
    version: "7",
    modifiedTime: "2026-04-01T00:00:00.000Z",
    webViewLink: "https://x.example",
  };
}
