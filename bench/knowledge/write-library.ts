import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { mapLimit } from "../../src/base/util/map-limit.ts";

const CATEGORIES = ["agents", "skills", "examples", "patterns", "guides", "workflows"];
const TOPICS = ["typescript", "python", "caching", "queues", "testing", "tracing", "schemas", "deployment"];
const PARTS = ["errors", "retries", "types", "limits", "naming", "review", "migration", "budgets", "alerts"];

/** Writes fragments of about 2 KB into nested folders. Some name another fragment. */
export async function writeLibrary(directory: string, count: number): Promise<void> {
  const numbers = Array.from({ length: count }, (_, number) => number);
  await mapLimit(numbers, 32, async (number) => {
    const file = join(directory, pathOf(number));
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, fragmentText(number));
  });
}

function pathOf(number: number): string {
  return `fragments/${CATEGORIES[number % 6]}/group-${number % 50}/note-${number}.md`;
}

function fragmentText(number: number): string {
  const topic = TOPICS[number % TOPICS.length]!;
  const part = PARTS[number % PARTS.length]!;
  const reference = number % 10 === 0 ? `\nSee also \`note-${number + 1}.md\`.\n` : "";
  const sentence = `Note ${number} explains how ${topic} deals with ${part}, and what to do when it does not. `;
  return `---
id: note-${number}
category: ${CATEGORIES[number % 6]!.slice(0, -1)}
tags: [${topic}, ${part}, group-${number % 50}]
capabilities:
  - Explain ${part} of ${topic}
  - Choose between ways to handle ${part}
useWhen:
  - Working on ${topic} and running into ${part}
  - Need a second opinion on ${part} in case ${number % 97}
estimatedTokens: ${400 + (number % 900)}
---

# ${topic} and ${part}, case ${number}

${sentence.repeat(18)}
${reference}`;
}
