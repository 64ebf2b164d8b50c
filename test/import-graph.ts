import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

export type Graph = ReadonlyMap<string, ReadonlySet<string>>;

/** Returns which file of `src/` imports which, type imports included, without tests and public doors. */
export function fileGraph(): Graph {
  const files = globSync("src/**/*.{ts,tsx}").filter((file) => !/\.test\.tsx?$|\/index\.ts$/.test(file));
  return new Map(files.sort().map((file) => [file, new Set(importsOf(file))]));
}

/** Returns which folder imports which. A file at the top of `src/` stands for itself. */
export function folderGraph(files: Graph): Graph {
  const folders = new Map<string, Set<string>>();
  for (const [file, targets] of files) {
    const from = folderOf(file);
    const known = folders.get(from) ?? new Set();
    folders.set(from, known);
    for (const target of targets) if (folderOf(target) !== from) known.add(folderOf(target));
  }
  return folders;
}

/** Returns the groups of nodes that reach each other, each sorted (Tarjan's algorithm). */
export function findCycles(graph: Graph): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const cycles: string[][] = [];

  function visit(node: string): number {
    const index = order.size;
    order.set(node, index);
    lowest.set(node, index);
    stack.push(node);
    for (const next of graph.get(node) ?? []) {
      const reached = order.has(next) ? (stack.includes(next) ? order.get(next)! : index) : visit(next);
      lowest.set(node, Math.min(lowest.get(node)!, reached));
    }
    if (lowest.get(node) === index) {
      const group = stack.splice(stack.indexOf(node));
      if (group.length > 1) cycles.push(group.sort());
    }
    return lowest.get(node)!;
  }

  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return cycles.sort((left, right) => (left[0]! < right[0]! ? -1 : 1));
}

function importsOf(file: string): string[] {
  const text = readFileSync(file, "utf8");
  return [...text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map((match) =>
    normalize(join(dirname(file), match[1]!)),
  );
}

function folderOf(file: string): string {
  const folder = dirname(file);
  return folder === "src" ? file : folder;
}
