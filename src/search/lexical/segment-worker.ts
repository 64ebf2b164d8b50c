// A thread that builds segments.
import { parentPort } from "node:worker_threads";
import { toParts } from "./segment.ts";
import { buildSegment } from "./segment-builder.ts";
import { type DocumentColumns, fromColumns } from "./segment-threads.ts";

const port = parentPort!;

port.on("message", (columns: DocumentColumns) =>
  port.postMessage(toParts(buildSegment(fromColumns(columns)))),
);
