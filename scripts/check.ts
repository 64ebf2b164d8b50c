// npm run check: the whole gate, fastest failures first. It must be green.
import { spawnSync } from "node:child_process";

const STEPS: readonly (readonly [name: string, command: string])[] = [
  ["format and lint", "node scripts/tool.ts biome biome check --error-on-warnings ."],
  ["types", "tsc --noEmit"],
  ["types of the console", "tsc --noEmit -p console"],
  ["types of LangChain", "node scripts/tool.ts langchain tsc --noEmit -p tools/langchain"],
  ["generated docs", "node scripts/docs.ts --check"],
  ["unused code", "node scripts/tool.ts knip knip"],
  ["tests", "vitest run"],
  ["conformance", "node scripts/conformance.ts"],
  ["build", "node scripts/build.ts"],
  ["manifests, by their readers", "node scripts/check-manifests.ts"],
  ["program as built", "node dist/program/main.js serve --help"],
  ["package as installed, on every Node", "node scripts/check-packed.ts"],
  ["package", "node scripts/tool.ts package-checks publint --strict dist"],
  ["package types", "node scripts/tool.ts package-checks attw --pack dist --profile esm-only"],
  ["package types without optional packages", "node scripts/check-package-types.ts"],
  ["examples of the API", "node scripts/run-doc-examples.ts"],
  ["examples", "node scripts/examples.ts"],
  ["examples on the built package", "node scripts/examples.ts --built"],
];

const argument = process.argv[2];
const wanted = (name: string) =>
  argument === "--no-tests" ? name !== "tests" : name.includes(argument ?? "");
for (const [name, command] of STEPS) {
  if (!wanted(name)) continue;
  const started = performance.now();
  const { status, stdout, stderr } = spawnSync(command, {
    shell: true,
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${status === 0 ? "ok    " : "FAILED"}  ${name} (${seconds} s)`);
  if (status === 0) continue;
  console.error(`${stdout}${stderr}\n${command} failed`);
  process.exit(1);
}
