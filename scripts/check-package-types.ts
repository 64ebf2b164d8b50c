// Type-checks a small project on the built package with `skipLibCheck: false`, where only the dependencies of the
// package are installed: none of its optional packages, such as `ai` or `@langchain/core`.
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

const { dependencies, exports: doors } = JSON.parse(readFileSync("dist/package.json", "utf8")) as {
  dependencies: Record<string, string>;
  exports: Record<string, { readonly types?: string }>;
};
const project = mkdtempSync(join(tmpdir(), "keyhole-types-"));
try {
  // A copy, because a link would resolve packages beside the link's target.
  const isDeclaration = (path: string) => !/\.[a-z]+$/.test(path) || /\.d\.ts$|package\.json$/.test(path);
  cpSync("dist", join(project, "node_modules/keyhole"), { recursive: true, filter: isDeclaration });
  for (const name of [...Object.keys(dependencies), "@types/node", "@types/react"]) {
    const link = join(project, "node_modules", name);
    if (!existsSync(resolve("node_modules", name))) continue;
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(resolve("node_modules", name), link);
  }
  const typed = Object.entries(doors).filter(([, { types }]) => types !== undefined);
  const imports = typed.map(
    ([path], index) => `import * as door${index} from "${path.replace(".", "keyhole")}";`,
  );
  const uses = `export default [${typed.map((_, index) => `door${index}`).join(", ")}];`;
  writeFileSync(join(project, "index.ts"), [...imports, uses, ""].join("\n"));
  writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module" }));
  const compilerOptions = {
    target: "es2024",
    lib: ["esnext"],
    module: "nodenext",
    types: ["node"],
    strict: true,
    skipLibCheck: false,
    noEmit: true,
  };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["index.ts"] }));
  const { status, stdout } = spawnSync("tsc", ["-p", project], { encoding: "utf8" });
  if (status !== 0) console.error(stdout);
  process.exitCode = status === 0 ? 0 : 1;
} finally {
  rmSync(project, { recursive: true, force: true });
}
