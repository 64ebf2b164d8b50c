import { readdir, readFile } from "node:fs/promises";
import { dirname, extname, join, relative, sep } from "node:path";
import { packagedFile } from "../../base/util/packaged-file.ts";
import type { HttpRoute } from "../mcp/http-routes.ts";

/** The page of the console. Its files are next to it. */
const PAGE = join("console", "built", "index.html");
export const CONSOLE_PATH = "/console/";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Only the console's own files run, and no text becomes markup or code. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const HEADERS = {
  "content-security-policy": POLICY,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

const NOT_BUILT =
  "<!doctype html><title>Keyhole</title><p>The console is not built yet. Run: npm run console</p>";

/** The routes of the console's files. They are the same for everybody and hold no data, so they are open. */
export async function consoleFileRoutes(): Promise<HttpRoute[]> {
  const page = await packagedFile(PAGE);
  const files = page === undefined ? new Map([["index.html", NOT_BUILT]]) : await readFiles(dirname(page));
  const routes = [...files].map(([name, text]): HttpRoute => {
    const isPage = name === "index.html";
    const headers = {
      ...HEADERS,
      "content-type": TYPES[extname(name)] ?? "text/plain; charset=utf-8",
      // The names of the other files change with their content.
      "cache-control": isPage ? "no-cache" : "public, max-age=31536000, immutable",
    };
    const path = isPage ? CONSOLE_PATH : `${CONSOLE_PATH}${name}`;
    return { method: "GET", path, open: true, handle: () => new Response(text, { headers }) };
  });
  const redirect = () => new Response(null, { status: 302, headers: { location: CONSOLE_PATH } });
  const ways = ["/", "/console"].map(
    (path): HttpRoute => ({ method: "GET", path, open: true, handle: redirect }),
  );
  return [...routes, ...ways];
}

async function readFiles(folder: string): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((file) => file.isFile() && Object.hasOwn(TYPES, extname(file.name)));
  const read = files.map(async ({ parentPath, name }) => {
    const path = join(parentPath, name);
    return [relative(folder, path).replaceAll(sep, "/"), await readFile(path, "utf8")] as const;
  });
  return new Map(await Promise.all(read));
}
