import { expect, test } from "vitest";
import { loadCommands } from "./program.ts";

test("every option and word of every command is in its help, and every line fits", async () => {
  for (const command of await loadCommands()) {
    const usage = command.usage();
    for (const word of command.completions()) expect(usage).toContain(word);
    expect(usage.split("\n").filter((line) => line.length > 120)).toEqual([]);
  }
});
