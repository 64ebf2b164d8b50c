import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

// `npm run examples` runs them.
test.each(["front-servers", "gateway", "markdown", "mcp-ai-sdk", "openai-loop"])(
  "%s shows a common use in fewer than 25 lines",
  (name) => {
    const lines = readFileSync(`examples/programs/${name}.ts`, "utf8").trimEnd().split("\n");
    expect(lines.length).toBeLessThan(25);
  },
);
