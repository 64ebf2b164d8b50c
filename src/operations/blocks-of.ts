import type { Block } from "../render/blocks.ts";

interface HasBlocks {
  readonly blocks?: readonly Block[];
}

/** The images, sounds, files and links in the answer of any operation, in the order of its results. */
export function blocksOf(answer: unknown): readonly Block[] {
  const { blocks = [], results = [] } = (answer ?? {}) as HasBlocks & {
    readonly results?: readonly { readonly data?: HasBlocks; readonly exec?: HasBlocks }[];
  };
  return [...blocks, ...results.flatMap(({ data, exec }) => (data ?? exec)?.blocks ?? [])];
}
