import { expect, test } from "vitest";
import { chatPlace, noTerminal } from "./chat-kit.ts";

test.skipIf(noTerminal)(
  "in a terminal: a typed command runs at once, and the model knows it and /undo",
  async () => {
    const place = await chatPlace(
      ({ messages }) => {
        const last = messages.at(-1)!;
        if (last.text.startsWith("change"))
          return { calls: [{ name: "edit", args: { path: "a.ts", oldText: "one", newText: "two" } }] };
        return { text: last.role === "tool" ? "Changed." : "Answered." };
      },
      { files: { "a.ts": "one\n" }, settings: { permissions: { allow: ["fs-write(**)"] } } },
    );
    const terminal = place.open();
    await terminal.sees("asks (⇧Tab)");
    await terminal.send("!touch made && echo of-the-person && exit 4");
    await terminal.sees("✗ shell touch made");
    await terminal.sees("exit code 4");
    expect(terminal.screen()).not.toContain("Allow");
    await terminal.send("change it");
    await terminal.sees("Changed.");
    const [first] = place.model.requests;
    expect(first!.messages.at(-1)!.text).toContain(
      "[The person ran the command touch made && echo of-the-person && exit 4\nexit code 4\nof-the-person]",
    );
    await terminal.send("/undo");
    await terminal.sees("Restored");
    await terminal.send("go on");
    await terminal.sees("Answered.");
    const { text } = place.model.requests.at(-1)!.messages.at(-1)!;
    expect(text).toMatch(/^go on\n\n\[The person undid the file changes of a turn:\n.*a\.ts/);
  },
);
