// A thread that makes segments. It remembers the words that it has analysed.
import { parentPort } from "node:worker_threads";
import { PostingMaker } from "./document-postings.ts";
import { MAX_KNOWN } from "./lexical-index.ts";
import { SegmentBuilder } from "./segment-builder.ts";
import { type DocumentColumns, fromColumns, toMessage } from "./segment-threads.ts";

const port = parentPort!;
let maker = new PostingMaker();

port.on("message", (columns: DocumentColumns) => {
  if (maker.terms.length > MAX_KNOWN) maker = new PostingMaker();
  const builder = new SegmentBuilder(maker);
  for (const document of fromColumns(columns)) builder.add(document);
  const steps = builder.finish();
  let step = steps.next();
  while (!step.done) step = steps.next();
  const { message, moved } = toMessage(step.value);
  port.postMessage(message, moved);
});
