const FIELD = /^([A-Za-z0-9_.-]{1,100})[ \t]*:(?:[ \t]+|$)/;
const NESTED_FIELD = /^([ \t]+(?:- )?[A-Za-z0-9_.-]{1,100}:[ \t]+|[ \t]*- )/;

const MAX_TEXT_CHARS = 4_000;

/** The end of a quote or block cannot be guessed, and nobody writes a tag by mistake. */
const NOT_PLAIN = /^["'|>!&]/;

/**
 * Quotes the values on faulty lines and turns tabs at line starts into blanks. Every value keeps its line.
 * Undefined if nothing can be repaired.
 */
export function repairYaml(yaml: string, faultyLines: readonly number[]): string | undefined {
  const lines = yaml.split("\n").map(untab);
  for (const line of new Set(faultyLines)) repairAt(lines, line - 1);
  const repaired = lines.join("\n");
  return repaired === yaml ? undefined : repaired;
}

function untab(line: string): string {
  const end = line.length - line.trimStart().length;
  return line.slice(0, end).replaceAll("\t", "  ") + line.slice(end);
}

function repairAt(lines: string[], faulty: number): void {
  let first = Math.min(faulty, lines.length - 1);
  while (first > 0 && !FIELD.test(lines[first]!)) first -= 1;
  const head = FIELD.exec(lines[first]!)?.[0];
  if (head === undefined) return;
  const value = lines[first]!.slice(head.length).trim();
  if (value === "") {
    quoteNested(lines, faulty);
    return;
  }
  if (NOT_PLAIN.test(value)) return;
  let next = first + 1;
  while (next < lines.length && /^[ \t]+\S/.test(lines[next]!)) next += 1;
  const text = lines
    .slice(first, next)
    .map((line) => line.trim())
    .join(" ");
  if (text.length > MAX_TEXT_CHARS) return;
  lines[first] = `${head.trimEnd()} ${quote(text.slice(head.trimEnd().length))}`;
  lines.fill("", first + 1, next);
}

function quoteNested(lines: string[], at: number): void {
  const head = NESTED_FIELD.exec(lines[at] ?? "")?.[0];
  if (head === undefined) return;
  const value = lines[at]!.slice(head.length).trim();
  if (value === "" || NOT_PLAIN.test(value)) return;
  lines[at] = head + quote(value);
}

function quote(text: string): string {
  return `'${text.trim().replaceAll("'", "''")}'`;
}
