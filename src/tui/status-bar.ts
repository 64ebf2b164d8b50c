import { Text } from "ink";
import { createElement as h, type ReactNode } from "react";
import type { ChatStatus, PermissionMode } from "./chat-agent.ts";
import { colour } from "./colour.ts";

const MODES: Readonly<Record<PermissionMode, string>> = {
  ask: "asks",
  "accept-edits": "accepts edits",
  plan: "plans, changes nothing",
};

/** The line below the input: mode, model, context, cost. The mode comes first, so that no window cuts it off. */
export function StatusBar({ status }: { status: ChatStatus }): ReactNode {
  const tint = status.mode === "ask" ? {} : colour(status.mode === "plan" ? "cyan" : "yellow");
  return h(Text, { wrap: "truncate", dimColor: status.mode === "ask", ...tint }, statusText(status));
}

export function statusText({ mode, model, tokens, window, cost }: ChatStatus): string {
  const share = window > 0 ? ` (${Math.round((tokens / window) * 100)} %)` : "";
  const parts = [
    `${MODES[mode]} (⇧Tab)`,
    model,
    tokens > 0 ? `${count(tokens)} tokens${share}` : "",
    cost === undefined ? "" : `$${cost < 0.01 ? cost.toFixed(4) : cost.toFixed(2)}`,
  ];
  return parts.filter((part) => part !== "").join(" · ");
}

function count(tokens: number): string {
  return tokens < 10_000 ? tokens.toLocaleString("en-US") : `${Math.round(tokens / 1_000)}k`;
}
