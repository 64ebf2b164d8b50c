import { z } from "zod";

export const todoInput = z.strictObject({
  items: z
    .array(
      z.strictObject({
        text: z.string().min(1).max(300),
        state: z.enum(["open", "now", "done"]).default("open"),
      }),
    )
    .max(50)
    .describe("the whole list, in order; it replaces the one before"),
});

const MARKS = { open: "☐", now: "▶", done: "☑" } as const;

/** The list as the model and the person read it. */
export function todoText({ items }: z.output<typeof todoInput>): string {
  const done = items.filter(({ state }) => state === "done").length;
  const lines = items.map(({ text, state }) => `${MARKS[state]} ${text}`);
  return [`${done} of ${items.length} done`, ...lines].join("\n");
}
