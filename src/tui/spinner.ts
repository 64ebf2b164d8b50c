import { Text, useAnimation } from "ink";
import { createElement as h, type ReactNode } from "react";
import { colour } from "./colour.ts";

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const INTERVAL_MS = 120;

/** Shows that work is running, for how long, and how to stop it. */
export function Spinner({ label, more = "" }: { label: string; more?: string }): ReactNode {
  const { frame, time } = useAnimation({ interval: INTERVAL_MS });
  const seconds = Math.floor(time / 1000);
  return h(
    Text,
    { wrap: "truncate", ...colour("yellow") },
    [`${FRAMES[frame % FRAMES.length]} ${label}`, seconds > 0 ? `${seconds} s` : "", more, "Esc stops"]
      .filter((part) => part !== "")
      .join(" · "),
  );
}
