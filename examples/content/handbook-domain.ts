import { defineDomain } from "keyhole";
import { createLocalSource, createMarkdownFormat } from "keyhole/sources";

/** A folder of Markdown files as a domain: a content source and a format. */
export const handbook = defineDomain({
  name: "handbook",
  description: "How we work: travel, on call, expenses",
  extractors: [
    {
      source: createLocalSource({ root: new URL("./handbook", import.meta.url) }),
      formats: [createMarkdownFormat()],
      basePath: "pages",
    },
  ],
});
