// Builds `dist/`, which is the package as it is published: its manifest is made from the workspace's, without
// what only the workspace needs. Types are as they are in `src/`; code is put together into few files, because
// a start spends most of its time on finding and opening modules.
import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { rolldown } from "rolldown";

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
  type,
  engines,
  bin,
  dependencies,
  peerDependencies,
  peerDependenciesMeta,
} = root;
const programFiles = [...Object.values(bin as Record<string, string>), "src/testing/chaos-upstream.ts"];
const inputs = [...Object.values(root.exports as Record<string, string>), ...programFiles].map((file) => [
  file.replace(/^(\.\/)?src\//, "").replace(/\.ts$/, ""),
  file,
]);
const bundle = await rolldown({
  input: Object.fromEntries(inputs),
  platform: "node",
  // What others publish stays theirs: every door, and the code of users, shares one copy of it.
  external: /^[^./]/,
});
await bundle.write({ dir: "dist", entryFileNames: "[name].js", chunkFileNames: "shared/[name]-[hash].js" });

const doors = Object.entries(root.exports as Record<string, string>).map(([path, file]) => {
  const built = file.replace("./src/", "./").replace(/\.ts$/, "");
  return [path, { types: `${built}.d.ts`, default: `${built}.js` }];
});
const programs = Object.entries(bin as Record<string, string>).map(([program, file]) => [
  program,
  file.replace("src/", "").replace(/\.ts$/, ".js"),
]);
const manifest = {
  name,
  version,
  description,
  keywords,
  license,
  type,
  engines,
  sideEffects: false,
  bin: Object.fromEntries(programs),
  exports: { ...Object.fromEntries(doors), "./package.json": "./package.json" },
  dependencies,
  peerDependencies,
  peerDependenciesMeta,
};
writeFileSync("dist/package.json", `${JSON.stringify(manifest, null, 2)}\n`);
cpSync("models", "dist/models", { recursive: true });
for (const file of ["README.md", "LICENSE"]) copyFileSync(file, `dist/${file}`);
