import { Text, useAnimation } from "ink";
import { createElement as h, type ReactNode } from "react";
import { colour } from "./colour.ts";

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const INTERVAL_MS = 120;

/** Shows that work is running, and for how long. */
export function Spinner({ label }: { label: string }): ReactNode {
  const { frame, time } = useAnimation({ interval: INTERVAL_MS });
  const seconds = Math.floor(time / 1000);
  return h(
    Text,
    { wrap: "truncate", ...colour("yellow") },
    `${FRAMES[frame % FRAMES.length]} ${label}${seconds > 0 ? ` ${seconds} s` : ""}`,
  );
}
