// Builds `dist/`, the package as published. Its manifest is the workspace's without the fields that only the
// workspace needs. Types follow the files of `src/`. Code is bundled into few files, with the packages that a start
// needs, because a start spends most of its time finding and opening modules. `build/keyhole.mcpb` is the same program
// as a bundle.
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { rolldown } from "rolldown";
import { buildConsole } from "./build-console.ts";
import { manifestFiles } from "./manifests.ts";
import { isShipped, SHIPPED_FILES, shippedPages } from "./shipped-pages.ts";
import { zip } from "./zip.ts";

rmSync("dist", { recursive: true, force: true });
const { status } = spawnSync("tsc", ["-p", "tsconfig.build.json"], { stdio: "inherit" });
if (status !== 0) process.exit(1);

const root = JSON.parse(readFileSync("package.json", "utf8"));
const {
  name,
  version,
  description,
  keywords,
  license,
  mcpName,
  repository,
  type,
  engines,
  bin,
  dependencies,
  peerDependencies,
  peerDependenciesMeta,
} = root;
const programFiles = [
  ...Object.values(bin as Record<string, string>),
  "src/testing/chaos-upstream.ts",
  "src/core/sandbox/worker.ts",
  "src/search/lexical/segment-worker.ts",
];
const inputs = [...Object.values(root.exports as Record<string, string>), ...programFiles].map((file) => [
  file.replace(/^(\.\/)?src\//, "").replace(/\.ts$/, ""),
  file,
]);
/** Packages that the user brings, and one that Ink looks for in development. */
const external = [...Object.keys(peerDependencies), "pg", "react-devtools-core"];
/** The only package that is not in the bundle alone: the types of definitions are made of its types. */
const TYPES = "zod";
/** Packages in the bundle whose types a user's own code may need too, if it has them. */
const TYPED = ["@modelcontextprotocol/client", "@modelcontextprotocol/server"];
/**
 * Parts of the bundle, one file each: the imports of these modules, without those of an earlier part. The first part
 * is all that \`keyhole --help\` needs, the second all that a client of the daemon needs.
 */
const PARTS: readonly (readonly [name: string, test: RegExp])[] = [
  [
    "problem",
    /src\/base\/problems\/(?:problems?|format-message)\.ts$|src\/base\/util\/program-version\.ts$|src\/program\/(?:open\/user-folders|program)\.ts$/,
  ],
  ["relay", /src\/program\/daemon\/serve-by-daemon\.ts$/],
  ["core", /src\/(?:index|gateway\/create-gateway)\.ts$/],
  ["mcp", /src\/faces\/mcp\/mcp-server\.ts$/],
  [
    "upstreams",
    /src\/program\/(?:open\/open-config|daemon\/serve-here)\.ts$|src\/sources\/mcp\/from-mcp-config\.ts$/,
  ],
];
const bundle = await rolldown({
  input: Object.fromEntries(inputs),
  platform: "node",
  // The program loads a module late where it can. That another part of the bundle needs it at once is no mistake.
  onLog: (level, log, tell) => {
    if (log.code !== "INEFFECTIVE_DYNAMIC_IMPORT") tell(level, log);
  },
  resolve: {
    alias: {
      // Its main file is UMD, whose inner `require` calls fail in a bundle.
      "jsonc-parser": "jsonc-parser/lib/esm/main.js",
      ...Object.fromEntries(TYPED.map((name) => [`${name}/_shims`, resolve("scripts/sdk-shims.ts")])),
    },
  },
  transform: { define: { "process.env.NODE_ENV": JSON.stringify("production") } },
  external: (id) =>
    id.startsWith("node:") || external.some((name) => id === name || id.startsWith(`${name}/`)),
});
/** Lines and names stay, so that a stack trace can be read. A process keeps the source of what it runs, so comments go. */
const readable = { minify: false, comments: false } as const;
const { output } = await bundle.write({
  dir: "dist",
  ...readable,
  entryFileNames: "[name].js",
  chunkFileNames: "shared/[name]-[hash].js",
  codeSplitting: {
    groups: PARTS.map(([name, test], index) => ({ name, test, priority: PARTS.length - index })),
  },
});
// Packages that the program carries for its agent and for state in PostgreSQL: `npx keyhole` installs none of them.
const carried = [
  ...Object.keys(peerDependencies).filter((name) => name === "ai" || name.startsWith("@ai-sdk/")),
  "pg",
];
const packages = await rolldown({
  input: Object.fromEntries(carried.map((name) => [name, name])),
  platform: "node",
  // The client of PostgreSQL uses a native one, and that of another runtime, if they are there.
  external: (id) =>
    id.startsWith("node:") ||
    ["pg-native", "pg-cloudflare", TYPES].includes(id) ||
    id.startsWith(`${TYPES}/`),
});
const { output: carriedOutput } = await packages.write({
  dir: "dist/packages",
  ...readable,
  chunkFileNames: "shared/[name]-[hash].js",
});
writeFileSync("dist/packages/list.json", toJson(carried));
// The client of the daemon once more, alone: see bin/start.cjs.
const relay = await rolldown({
  input: "src/program/daemon/serve-by-daemon.ts",
  platform: "node",
  preserveEntrySignatures: "allow-extension",
});
await relay.write({
  dir: "dist/relay",
  format: "cjs",
  ...readable,
  entryFileNames: "[name].cjs",
  chunkFileNames: "[name]-[hash].cjs",
});
for (const file of globSync("dist/{**/*.js,relay/*.cjs}"))
  writeFileSync(file, toAscii(readFileSync(file, "utf8")));
writeFileSync(
  "dist/THIRD-PARTY.md",
  thirdParty([
    ...[...output, ...carriedOutput].flatMap((chunk) => Object.keys("modules" in chunk ? chunk.modules : {})),
    // The page of the console is bundled apart.
    resolve("node_modules/preact/package.json"),
  ]),
);

const doors = Object.entries(root.exports as Record<string, string>).map(([path, file]) => {
  const built = file.replace("./src/", "./").replace(/\.ts$/, "");
  return [path, { types: `${built}.d.ts`, default: `${built}.js` }] as const;
});
const manifest = {
  name,
  version,
  description,
  keywords,
  license,
  mcpName,
  repository,
  type,
  engines,
  sideEffects: false,
  bin: { keyhole: "bin/keyhole.cjs" },
  exports: {
    ...Object.fromEntries(doors),
    "./package.json": "./package.json",
    "./settings.schema.json": "./settings.schema.json",
  },
  dependencies: { [TYPES]: dependencies[TYPES] },
  peerDependencies: {
    ...peerDependencies,
    ...Object.fromEntries(TYPED.map((one) => [one, `^${dependencies[one]}`])),
  },
  peerDependenciesMeta: {
    ...peerDependenciesMeta,
    ...Object.fromEntries(TYPED.map((one) => [one, { optional: true }])),
  },
};
forgiveOptionalTypes();
dropPrivateTypes(doors.map(([, { types }]) => types));
writeFileSync("dist/package.json", toJson(manifest));
await buildConsole();
for (const folder of ["bin", "models", "bundled-skills", "console/built"])
  cpSync(folder, `dist/${folder}`, { recursive: true });
copyFileSync(
  "node_modules/@jitl/quickjs-ng-wasmfile-release-sync/dist/emscripten-module.wasm",
  "dist/core/sandbox/engine.wasm",
);
cpSync("docs", "dist/docs", { recursive: true, filter: isShipped });
for (const file of SHIPPED_FILES) copyFileSync(file, `dist/${file}`);
for (const [page, text] of shippedPages(repository.url)) writeFileSync(`dist/${page}`, text);
const { "mcpb/manifest.json": bundleManifest, ...manifests } = manifestFiles(root);
// Before the manifests, which the bundle does not need.
mkdirSync("build", { recursive: true });
writeFileSync(`build/${name}.mcpb`, bundleOf(bundleManifest));
for (const [path, value] of Object.entries(manifests)) {
  const target = join("dist", path);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, toJson(value));
}

/** The bundle for Claude Desktop: its manifest and the program. */
function bundleOf(manifest: unknown): Buffer {
  const program = globSync("dist/**/*", { withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name))
    .filter((file) => !/^dist.docs|\.d\.ts$/.test(file))
    .sort();
  return zip([
    { path: "manifest.json", bytes: Buffer.from(toJson(manifest)), mode: 0o644 },
    ...program.map((file) => ({
      path: `server/${relative("dist", file).replaceAll(sep, "/")}`,
      bytes: readFileSync(file),
      mode: file.includes("bin") ? 0o755 : 0o644,
    })),
  ]);
}

function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/**
 * Escapes all other characters: one of them doubles the memory that the source of a whole file takes. Without it the
 * bars "empty rss_mb" and "daemon rss_mb" of `npm run bench -- start` (80 MB) are met by 0.2 MB, with it by 2 MB.
 */
function toAscii(code: string): string {
  if (/\\[\u0080-\uffff]/.test(code)) throw new Error("An escaped character cannot be escaped once more.");
  return code.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/**
 * Lets declarations import types of packages that a user need not have: where one is absent, its types are `any`
 * instead of an error in a project that checks the declarations of its packages.
 */
function forgiveOptionalTypes(): void {
  const { peerDependenciesMeta } = JSON.parse(readFileSync("package.json", "utf8"));
  const optional = [...Object.keys(peerDependenciesMeta), ...TYPED, "@ai-sdk/provider"];
  const imports = new RegExp(`^.*(?:from |import\\()"(?:${optional.join("|")})(?:/[^"]*)?".*$`, "gm");
  for (const file of globSync("dist/**/*.d.ts")) {
    const text = readFileSync(file, "utf8");
    const forgiving = text.replace(imports, "// @ts-ignore: an optional package\n$&");
    if (forgiving !== text) writeFileSync(file, forgiving);
  }
}

/** Deletes declarations that no door of the package leads to. */
function dropPrivateTypes(doors: readonly string[]): void {
  const reached = new Set<string>();
  const visit = (file: string) => {
    if (reached.has(file)) return;
    reached.add(file);
    const text = readFileSync(file, "utf8");
    for (const [, path = ""] of text.matchAll(/(?:from |import\()"(\.[^"]+)"/g)) {
      visit(join(dirname(file), path.replace(/\.[jt]s$/, ".d.ts")));
    }
  };
  for (const door of doors) visit(join("dist", door));
  for (const file of globSync("dist/**/*.d.ts")) if (!reached.has(file)) rmSync(file);
}

/** Lists the bundled packages with their authors and licences. */
function thirdParty(files: readonly string[]): string {
  const folders = new Set(files.map((file) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? ""));
  folders.delete("");
  const parts = [...folders].sort().map((folder) => {
    const manifest = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file ? readFileSync(`${folder}/${file}`, "utf8").trim() : "";
    return `## ${manifest.name} ${manifest.version}\n\n${manifest.license}\n\n${text}\n`;
  });
  return `# Code of others in this package\n\n${parts.join("\n")}`;
}
