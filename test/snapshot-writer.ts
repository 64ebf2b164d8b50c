// Saves indexes of 100 and 200 documents over each other in turn until the process is killed.
import { createEmbeddedIndex } from "../src/search/embedded-index.ts";

const path = process.argv[2] ?? "";
const documents = Array.from({ length: 200 }, (_, number) => ({
  id: `d://tools/${number}`,
  kind: "tool" as const,
  domain: "d",
  visibility: "listed" as const,
  scopes: [],
  tags: [],
  name: `tool_${number}`,
  aliases: [],
  description: `The tool with the number ${number}, and some words beside it.`,
  parameters: "",
  domainText: "",
  content: "word ".repeat(number),
}));

const small = createEmbeddedIndex();
const large = createEmbeddedIndex();
await small.put(documents.slice(0, 100));
await large.put(documents);
await small.save(path);
await large.save(path);
process.send?.("saved");
for (;;) {
  await small.save(path);
  await large.save(path);
}
