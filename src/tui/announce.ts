import { basename } from "node:path";
import type { ChatState } from "./chat-state.ts";

/**
 * Tells the terminal how the chat stands: the title names it, and a bell rings when a question opens or a turn ends,
 * for a person who is in another window. Returns the sequences to write, which move nothing on the screen.
 */
export function createAnnouncer(folder: string): (state: ChatState) => string {
  const place = basename(folder).replaceAll(/\p{Cc}/gu, "") || "/";
  let title = "";
  let asked = 0;
  let wasRunning = false;
  return ({ phase, permissions, asked: questions }) => {
    const isAsking = permissions.length > 0;
    const mark = isAsking ? "? " : phase === "idle" ? "" : "● ";
    const next = `${mark}keyhole: ${place}`;
    const rings = questions > asked || (wasRunning && phase === "idle");
    asked = questions;
    wasRunning = phase !== "idle";
    const renamed = next === title ? "" : `\u001b]0;${next}\u0007`;
    title = next;
    return `${renamed}${rings ? "\u0007" : ""}`;
  };
}

/** Gives the title back to the shell. */
export const NO_TITLE = "\u001b]0;\u0007";
