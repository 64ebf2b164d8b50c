// The size of the package as a stranger installs it. It has to be built before: npm run build.
import { globSync, statSync } from "node:fs";
import { join } from "node:path";
import { installPacked } from "../scripts/packed.ts";
import type { Benchmark } from "./benchmark.ts";

export const benchmark: Benchmark = async () => {
  const { folder, tarball, remove } = installPacked();
  try {
    const modules = join(folder, "node_modules");
    const files = globSync("**", { cwd: modules }).map((file) => statSync(join(modules, file)));
    const bytes = files.filter((file) => file.isFile()).reduce((sum, { size }) => sum + size, 0);
    const packages = globSync(["*/package.json", "@*/*/package.json"], { cwd: modules }).length;
    const row = (metric: string, value: number, unit: string) => ({
      bench: "package",
      case: "install",
      system: "keyhole",
      metric,
      value,
      unit,
    });
    return [
      row("tarball", statSync(tarball).size / 1e6, "MB"),
      row("installed", bytes / 1e6, "MB"),
      row("packages", packages, "packages"),
    ];
  } finally {
    remove();
  }
};
