// A library of Markdown files about building and running software.
import { createMarkdownSource, type MarkdownSource } from "keyhole/sources";

export interface LibraryOptions {
  /** Whether saved files take effect at once. */
  readonly watch?: boolean;
}

/** Creates the library as a source. The gateway that uses it closes it. */
export function createLibrary({ watch = true }: LibraryOptions = {}): MarkdownSource {
  return createMarkdownSource("library", {
    directory: new URL("./content", import.meta.url),
    description: "How to build and run software: roles, skills, patterns, examples, guides and workflows.",
    watch,
  });
}
