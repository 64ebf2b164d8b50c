// npm run console: builds `console/built/`. With --if-changed, only if a source is newer than the build.
import { globSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { build } from "vite";

const PAGE = "console/built/index.html";

/** Builds the page of the console, unless it is newer than everything that it is made from. */
export async function buildConsole({ ifChanged = false } = {}): Promise<void> {
  if (ifChanged && isCurrent()) return;
  await build({ configFile: resolve("console/vite.config.ts"), logLevel: "warn" });
}

function isCurrent(): boolean {
  const built = timeOf(PAGE);
  const sources = globSync(["console/**/*.{ts,tsx,css,svg,html}", "package-lock.json"], {
    exclude: ["console/built/**"],
  });
  return built > 0 && sources.every((file) => timeOf(file) < built);
}

function timeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

if (import.meta.main) await buildConsole({ ifChanged: process.argv.includes("--if-changed") });
