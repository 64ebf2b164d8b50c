import { expect } from "vitest";
import { inTerminals } from "./chat-kit.ts";

/** The last of these commands finds no key of the model, and fails. */
const FAILING = "cat a.ts; seq 40; echo FAILED; printenv MINE; printenv OPENAI_API_KEY";

inTerminals(
  "a typed command runs at once, failures look like failures, and the model knows of /undo",
  async (openPlace) => {
    const place = await openPlace(
      ({ messages }) => {
        const last = messages.at(-1)!;
        if (last.text.startsWith("try")) return { calls: [{ name: "shell", args: { command: FAILING } }] };
        if (last.text.startsWith("change"))
          return { calls: [{ name: "edit", args: { path: "a.ts", oldText: "one", newText: "two" } }] };
        return { text: last.role === "tool" ? "Changed." : "Answered." };
      },
      {
        files: { "a.ts": "one\n" },
        settings: { permissions: { allow: ["fs-write(**)", "shell-run(printenv *)"] } },
        env: { MINE: "of-the-person", OPENAI_API_KEY: "of-the-model" },
      },
    );
    const terminal = place.open();
    await terminal.sees("asks (⇧Tab)");
    await terminal.send("!touch made && echo of-the-person && exit 4");
    await terminal.sees("✗ shell touch made");
    await terminal.sees("exit code 4");
    expect(terminal.screen()).not.toContain("Allow");
    // Commands that only read are not asked about, and a failure shows its exit code and its end.
    await terminal.send("try");
    await terminal.sees("✗ shell cat a.ts; seq 40");
    await terminal.sees("└ exit code 1");
    await terminal.sees("FAILED\n    of-the-person");
    expect(terminal.screen()).not.toContain("of-the-model");
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

inTerminals(
  "a file by some of its letters, a folder, words under the cursor, and names of other chats",
  async (openPlace) => {
    const place = await openPlace(() => ({ text: "Answered." }), {
      files: { "lib/parse-config.ts": "one", "lib/other.ts": "two" },
    });
    const terminal = place.open();
    await terminal.sees("asks (⇧Tab)");
    terminal.type("look at @lpcfg");
    await terminal.sees("lib/parse-config.ts");
    terminal.press("Tab");
    await terminal.sees("look at @lib/parse-config.ts");
    // Alt-Left goes before the file, and what is typed stands there.
    terminal.press("M-Left");
    terminal.type("closely ");
    await terminal.sees("look at closely @lib/parse-config.ts");
    // So does Ctrl-Left.
    terminal.press("C-Left");
    terminal.type("more ");
    await terminal.sees("look at more closely @lib/parse-config.ts");
    terminal.press("Enter");
    await terminal.sees("Answered.");
    terminal.type("@li");
    await terminal.sees("› @li\n");
    terminal.press("Tab");
    await terminal.sees("› @lib/\n");
    terminal.press("C-u");
    await expect.poll(terminal.screen).not.toContain("› @lib/");
    await terminal.send("/status");
    await terminal.sees("in the last request");
    await terminal.send("/new");
    await terminal.sees("A new conversation.");
    await terminal.send("/quit");
    await terminal.ends();
  },
);
