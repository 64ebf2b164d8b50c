import { splitWords } from "../../util/split-words.ts";

/** The parts of an operation that name it. */
export interface NamedOperation {
  readonly method: string;
  readonly path: string;
  readonly operationId?: string;
  readonly tags: readonly string[];
}

const SEGMENT_CHARS = 60;

/**
 * Derives one stable op for each operation, from tag and operationId or from method and path. Of operations with
 * the same op, the first by path keeps it and the others are numbered.
 */
export function assignOps(label: string, operations: readonly NamedOperation[]): string[] {
  const order = operations
    .map((_, index) => index)
    .sort((left, right) => compare(operations[left]!, operations[right]!));
  const ops = new Array<string>(operations.length);
  const taken = new Set<string>();
  for (const index of order) {
    const base = [label, ...segmentsOf(operations[index]!, label)].join(".");
    let op = base;
    for (let number = 2; taken.has(op); number += 1) op = `${base}_${number}`;
    taken.add(op);
    ops[index] = op;
  }
  return ops;
}

function segmentsOf(operation: NamedOperation, label: string): string[] {
  const fromId =
    operation.operationId === undefined ? [] : idSegments(operation.operationId, operation.tags[0], label);
  return (fromId.length > 0 ? fromId : pathSegments(operation)).map((segment) =>
    segment.slice(0, SEGMENT_CHARS),
  );
}

/** `issues/create` names its group. `createIssue` takes the group of its tag, `issues`. */
function idSegments(operationId: string, tag: string | undefined, label: string): string[] {
  const parts = operationId
    .split(/[./:]+/)
    .map(splitWords)
    .filter((words) => words.length > 0);
  const [first, ...others] = parts;
  if (first === undefined) return [];
  if (others.length > 0)
    return (first.join("_") === label ? others : parts).slice(0, 4).map((words) => words.join("_"));
  const group = splitWords(tag ?? "");
  if (group.length === 0) return [first.join("_")];
  const stems = new Set(group.map(stem));
  const rest = first.filter((word) => !stems.has(stem(word)));
  return [group.join("_"), (rest.length > 0 ? rest : first).join("_")];
}

function pathSegments({ path, method }: NamedOperation): string[] {
  const parts = path.split("/").filter((part) => part !== "");
  const fixed = parts.filter((part) => !part.includes("{")).map((part) => splitWords(part).join("_"));
  const last = parts.at(-1) ?? "";
  const by = last.includes("{") ? ["by", ...splitWords(last)] : [];
  return [...fixed.filter((part) => part !== ""), [method.toLowerCase(), ...by].join("_")];
}

function stem(word: string): string {
  if (word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  return word.length > 2 && word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word;
}

function compare(left: NamedOperation, right: NamedOperation): number {
  const [a, b] = [left, right].map(({ path, method }) => `${path} ${method}`);
  return a! < b! ? -1 : a! > b! ? 1 : 0;
}
