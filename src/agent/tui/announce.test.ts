import { expect, test } from "vitest";
import { NEW_CHAT } from "./chat-state.ts";
import { createAnnouncer } from "./show-chat.ts";

const QUESTION = { number: 1, callId: "1", scope: "shell-run", action: "ls", reason: "", always: [] };

test("the title says how the chat stands, and the bell rings for a question and the end of a turn", () => {
  const announce = createAnnouncer("/home/me/\u001b]0;shop");
  const title = (text: string) => `\u001b]0;${text}\u0007`;
  expect(announce(NEW_CHAT)).toBe(title("keyhole: ]0;shop"));
  const running = { ...NEW_CHAT, phase: "running" as const };
  expect(announce(running)).toBe(title("● keyhole: ]0;shop"));
  expect(announce(running)).toBe("");
  const asking = { ...running, asked: 1, permissions: [QUESTION] };
  expect(announce(asking)).toBe(`${title("? keyhole: ]0;shop")}\u0007`);
  expect(announce(asking)).toBe("");
  expect(announce({ ...running, asked: 1 })).toBe(title("● keyhole: ]0;shop"));
  expect(announce({ ...NEW_CHAT, asked: 1 })).toBe(`${title("keyhole: ]0;shop")}\u0007`);
});
