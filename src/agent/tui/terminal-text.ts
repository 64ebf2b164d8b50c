import { Box, type BoxProps } from "ink";
import { createElement as h, type ReactNode } from "react";

/** Children below each other. */
export function column(props: BoxProps, ...children: readonly ReactNode[]): ReactNode {
  return h(Box, { flexDirection: "column", ...props }, ...children);
}

/** Content behind a mark, which keeps its column when the content wraps. */
export function marked(mark: ReactNode, content: ReactNode, props: BoxProps = {}): ReactNode {
  return h(Box, props, h(Box, { flexShrink: 0 }, mark), content);
}

/** Props for a colour; empty with NO_COLOR. Colour never carries meaning of its own. */
export function colour(name: "cyan" | "green" | "red" | "yellow" | "blue" | "gray"): { color?: string } {
  return process.env.NO_COLOR ? {} : { color: name };
}
