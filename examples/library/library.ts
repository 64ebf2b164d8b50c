// What engineers know about building and running software, as a library of Markdown files.
import { createMarkdownSource, type MarkdownSource } from "keyhole/sources";

export interface LibraryOptions {
  /** Whether a saved file counts at once. */
  readonly watch?: boolean;
}

/** It keeps nothing open of its own: the gateway that it is given to closes it. */
export function createLibrary({ watch = true }: LibraryOptions = {}): MarkdownSource {
  return createMarkdownSource("library", {
    directory: new URL("./content", import.meta.url),
    description: "How to build and run software: roles, skills, patterns, examples, guides and workflows.",
    watch,
  });
}
