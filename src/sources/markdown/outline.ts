/** The headings and lists of a Markdown text. */
export interface Outline {
  /** The first heading. */
  readonly title: string | undefined;
  /** The first paragraph that is neither heading, list nor code. */
  readonly lead: string;
  /** List items by the heading above them, in lower case. */
  readonly items: ReadonlyMap<string, readonly string[]>;
}

const MAX_LINES = 20_000;

export function readOutline(body: string): Outline {
  const items = new Map<string, string[]>();
  const lead: string[] = [];
  let title: string | undefined;
  let heading = "";
  let fence = "";
  let leadEnded = false;
  let inItem = false;
  for (const whole of body.split("\n", MAX_LINES)) {
    const line = whole.trim();
    const mark = line.slice(0, 3);
    if (mark === "```" || mark === "~~~") {
      if (fence === "") fence = mark;
      else if (fence === mark) fence = "";
      leadEnded ||= lead.length > 0;
      continue;
    }
    if (fence !== "") continue;
    const named = toHeading(line);
    const item = toItem(line);
    inItem = item !== undefined || (inItem && line !== "" && named === undefined);
    if (named !== undefined) {
      title ??= named;
      heading = named.toLowerCase();
    } else if (item !== undefined) {
      const known = items.get(heading) ?? [];
      items.set(heading, [...known.slice(0, 63), item]);
    } else if (line !== "" && !leadEnded && !inItem) {
      lead.push(line);
      continue;
    }
    leadEnded ||= lead.length > 0;
  }
  return { title, lead: lead.join(" "), items };
}

function toHeading(line: string): string | undefined {
  let level = 0;
  while (line[level] === "#") level += 1;
  if (level === 0 || level > 6 || line[level] !== " ") return undefined;
  let end = line.length;
  while (line[end - 1] === "#") end -= 1;
  return line.slice(level, end).trim() || undefined;
}

function toItem(line: string): string | undefined {
  const marker = /^(?:[-*+]|\d{1,3}[.)]) /.exec(line)?.[0];
  return marker === undefined ? undefined : line.slice(marker.length).trim() || undefined;
}
