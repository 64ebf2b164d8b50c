import { createHash } from "node:crypto";
import type { GitHubSourceOptions } from "keyhole/sources";
import { expect, onTestFinished, test } from "vitest";
import { createCommitFormat, createPrFormat } from "../src/sources/content/formats/github-format.ts";
import { createMarkdownFormat } from "../src/sources/content/formats/markdown-format.ts";
import { createGitHubSource } from "../src/sources/content/sources/github-source.ts";
import { describeFaults } from "./content-faults.ts";
import { nodesOf, type Reply, serve, testClock } from "./content-kit.ts";
import { type LoopbackApi, startLoopbackApi } from "./loopback-api.ts";

const TOKEN = "ghp_secret_0123456789";
const pulls = Array.from({ length: 5 }, (_, index) => pullOf(index + 1));
const issue = {
  number: 40,
  title: "Search is slow",
  state: "open",
  user: { login: "mona" },
  labels: [{ id: 1, name: "bug", color: "f00" }],
  body: "Ten seconds for a query.",
  comments: 1,
  html_url: "https://github.example/acme/shop/issues/40",
  created_at: "2026-04-01T00:00:00Z",
  updated_at: "2026-04-02T00:00:00Z",
};
const commit = {
  sha: "c".repeat(40),
  html_url: "https://github.example/acme/shop/commit/c",
  commit: {
    message: "Cache the index\n\nReading it took too long.",
    author: { name: "Mona", email: "mona@example.com", date: "2026-04-03T00:00:00Z" },
  },
};
const readme = Buffer.from("# Shop\n\nSells things.\n\n## Orders\n\nOrders are kept for ten years.\n");
const large = Buffer.from(`# Large\n\n${"Many words. ".repeat(500)}`);

describeFaults("GitHub", {
  open: (options) => open({ ...options, kinds: ["prs", "commits"] }),
  answer: (api) => serve(github(api)),
  secret: TOKEN,
});

test("GitHub: reads all pages of pull requests, with files and comments", async () => {
  const { api, source } = await start({ kinds: ["prs"] });
  const documents = await source.listDocuments();
  expect(documents).toHaveLength(5);
  expect(documents[0]).toEqual({
    id: "pr:1",
    name: "PR #1",
    contentType: "pr",
    version: "2026-04-01T00:00:00Z",
    metadata: { path: "prs/1", url: "https://github.example/acme/shop/pull/1" },
  });
  expect(api.seen[0]?.headers).toMatchObject({
    authorization: `Bearer ${TOKEN}`,
    accept: "application/vnd.github+json",
    "x-github-api-version": "2022-11-28",
  });
  const [node] = await nodesOf(source, [createPrFormat()], "reviews");
  expect(node).toMatchObject({
    name: "#1 Change number 1",
    path: "reviews/prs/1",
    description: "Change number 1: It makes 1 better.",
    metadata: {
      resource_type: "pr",
      path_segment: "reviews",
      quality_score: 50,
      state: "merged",
      author: "mona",
    },
  });
  expect(node?.content).toContain("- src/cache.ts (+10 -2)");
  expect(node?.content).toContain("Looks good to me.");
  expect(node?.content).toContain("Branch: topic-1 into main");
});

test("GitHub: a limit reads the newest and then stops", async () => {
  const { api, source } = await start({ kinds: ["prs"], limit: 3 });
  expect((await source.listDocuments()).map(({ id }) => id)).toEqual(["pr:1", "pr:2", "pr:3"]);
  expect(api.seen).toHaveLength(2);
});

test("GitHub: reads issues without pull requests, and commits", async () => {
  const { source } = await start({ kinds: ["issues", "commits"] });
  const nodes = await nodesOf(source, [createPrFormat(), createCommitFormat()]);
  expect(nodes.map(({ path }) => path)).toEqual(["issues/40", "commits/cccccccccccc"]);
  expect(nodes[0]?.content).toContain("Labels: bug");
  expect(nodes[1]).toMatchObject({ name: "ccccccc Cache the index", description: "Cache the index" });
  expect(nodes[1]?.content).toContain("Reading it took too long.");
  expect(nodes[1]?.content).toContain("- src/index.ts (+3 -1)");
});

test("GitHub: lists files by the tree, reads large ones as blobs, and skips links", async () => {
  const { source } = await start({ kinds: ["files"] });
  expect((await source.listDocuments()).map(({ id }) => id)).toEqual([
    "file:README.md",
    "file:docs/large.md",
  ]);
  const nodes = await nodesOf(source, [createMarkdownFormat()]);
  expect(nodes.map(({ path }) => path)).toContain("files/README-md/orders");
  expect(nodes.find(({ name }) => name === "Large")?.content).toBe(large.toString());
});

test("GitHub: a truncated tree is walked folder by folder", async () => {
  const { api, source } = await start({ kinds: ["files"] });
  const whole = github(api);
  api.answer = serve((url) => {
    const reply = whole(url);
    return url.searchParams.has("recursive") ? { value: { tree: [], truncated: true } } : reply;
  });
  expect((await source.listDocuments()).map(({ id }) => id)).toEqual([
    "file:README.md",
    "file:docs/large.md",
  ]);
});

test("GitHub: a blob with the wrong hash is refused", async () => {
  const { api, source } = await start({ kinds: ["files"] });
  const whole = github(api);
  api.answer = serve((url) => {
    const reply = whole(url);
    if (!url.pathname.includes("/contents/")) return reply;
    return { value: { ...Object(reply?.value), content: readme.subarray(0, 9).toString("base64") } };
  });
  await expect(source.fetchContent("file:README.md")).rejects.toMatchObject({ code: "SOURCE_INVALID" });
});

test("GitHub: a next page at another origin is refused", async () => {
  const { api, source } = await start({ kinds: ["prs"] });
  const headers = { link: '<https://elsewhere.example/steal>; rel="next"' };
  api.answer = serve(() => ({ value: [pulls[0]], headers }));
  await expect(source.listDocuments()).rejects.toMatchObject({ code: "REQUEST_REFUSED" });
});

test("GitHub: a page loop is detected", async () => {
  const { api, source } = await start({ kinds: ["prs"] });
  const headers = { link: `<${api.url}/repos/acme/shop/pulls?page=2>; rel="next"` };
  api.answer = serve(() => ({ value: [pulls[0]], headers }));
  await expect(source.listDocuments()).rejects.toMatchObject({ code: "SOURCE_INVALID" });
});

function open(options: Partial<GitHubSourceOptions>) {
  return createGitHubSource({ owner: "acme", repo: "shop", token: () => TOKEN, ...options });
}

async function start(options: Partial<GitHubSourceOptions>) {
  const api = await startLoopbackApi();
  onTestFinished(() => api.close());
  api.answer = serve(github(api));
  const shared = { baseUrl: api.url, allowPrivateHosts: [api.host], clock: testClock() };
  return { api, source: open({ ...shared, ...options }) };
}

/** Answers like the REST API, with two items per page. */
function github(api: LoopbackApi): (url: URL) => Reply | undefined {
  const file = { filename: "src/index.ts", status: "modified", additions: 3, deletions: 1, patch: "@@" };
  const tree = (path: string, bytes: Buffer, mode = "100644") => ({
    path,
    mode,
    type: "blob",
    sha: shaOf(bytes),
    size: bytes.length,
  });
  const table: Record<string, unknown> = {
    "/issues": [issue, { ...issue, number: 1, pull_request: { url: "https://api.github.example/pulls/1" } }],
    "/issues/40": issue,
    "/issues/40/comments": [{ user: { login: "hubot" }, body: "It is the cache." }],
    "/commits": [commit],
    [`/commits/${commit.sha}`]: { ...commit, stats: { total: 4 }, files: [file] },
    "/git/trees/HEAD": {
      sha: "a",
      truncated: false,
      tree: [tree("README.md", readme), { path: "docs", mode: "040000", type: "tree", sha: "d0c5" }],
    },
    "/git/trees/d0c5": { sha: "d0c5", truncated: false, tree: [tree("large.md", large)] },
    "/contents/README.md": {
      type: "file",
      encoding: "base64",
      size: readme.length,
      sha: shaOf(readme),
      content: readme.toString("base64").replace(/.{60}/g, "$&\n"),
    },
    "/contents/docs/large.md": {
      type: "file",
      encoding: "none",
      size: large.length,
      sha: shaOf(large),
      content: "",
    },
    [`/git/blobs/${shaOf(large)}`]: {
      encoding: "base64",
      content: large.toString("base64"),
      size: large.length,
    },
  };
  for (const pull of pulls) {
    table[`/pulls/${pull.number}`] = { ...pull, comments: 1, additions: 10, deletions: 2, changed_files: 1 };
    table[`/pulls/${pull.number}/files`] = [
      { ...file, filename: "src/cache.ts", additions: 10, deletions: 2 },
    ];
    table[`/issues/${pull.number}/comments`] = [{ user: { login: "hubot" }, body: "Looks good to me." }];
  }
  const recursive = {
    sha: "a",
    truncated: false,
    tree: [
      tree("README.md", readme),
      { path: "docs", mode: "040000", type: "tree", sha: "d0c5" },
      tree("docs/large.md", large),
      tree("link.md", Buffer.from("README.md"), "120000"),
      tree("logo.png", Buffer.from("x")),
    ],
  };
  return (url) => {
    const path = url.pathname.replace(/^\/repos\/acme\/shop/, "");
    if (path === "/pulls") {
      const page = Number(url.searchParams.get("page") ?? 1);
      const next = `<${api.url}/repos/acme/shop/pulls?page=${page + 1}>; rel="next", <${api.url}/x>; rel="last"`;
      const value = pulls.slice((page - 1) * 2, page * 2);
      return { value, ...(page < 3 && { headers: { link: next } }) };
    }
    if (url.searchParams.has("recursive")) return { value: recursive };
    return Object.hasOwn(table, path) ? { value: table[path] } : undefined;
  };
}

function pullOf(number: number) {
  return {
    number,
    title: `Change number ${number}`,
    body: `It makes ${number} better. More follows.`,
    state: "closed",
    draft: false,
    user: { login: "mona" },
    labels: [],
    head: { ref: `topic-${number}`, sha: "1" },
    base: { ref: "main", sha: "2" },
    html_url: `https://github.example/acme/shop/pull/${number}`,
    created_at: "2026-03-01T00:00:00Z",
    updated_at: `2026-04-0${number}T00:00:00Z`,
    merged_at: "2026-04-09T00:00:00Z",
  };
}

function shaOf(bytes: Buffer): string {
  return createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
}
