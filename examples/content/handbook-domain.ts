import { defineDomain } from "keyhole";
import { contentFormats, contentSources } from "keyhole/sources";

/** A folder of Markdown files as a domain: a content source and a format. */
export const handbook = defineDomain({
  name: "handbook",
  description: "How we work: travel, on call, expenses",
  extractors: [
    {
      source: contentSources.local({ root: new URL("./handbook", import.meta.url) }),
      formats: [contentFormats.markdown()],
      basePath: "pages",
    },
  ],
});
