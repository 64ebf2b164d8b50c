import { createGateway, defineDomain, defineTool } from "keyhole";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { nativeTools } from "./native-tools.ts";

async function entriesOf(domains: Readonly<Record<string, readonly string[]>>) {
  const gateway = createGateway({
    domains: Object.entries(domains).map(([name, tools]) =>
      defineDomain({
        name,
        description: "Tools.",
        tools: tools.map((tool) =>
          defineTool({
            name: tool,
            op: `${name}.${tool}`,
            description: "Says.",
            inputSchema: z.object({}),
            execute: () => 1,
          }),
        ),
      }),
    ),
  });
  onTestFinished(() => gateway.close());
  return (await gateway.view()).entries;
}

test("an entry does not get a name that looks like another entry's hashed fallback", async () => {
  const shared = await entriesOf({ one: ["say"], two: ["say"] });
  const [fallback] = [...nativeTools(shared, "names")].find(([, { domain }]) => domain === "one")!;
  const all = await entriesOf({ one: ["say"], two: ["say"], posing: [fallback, "rates_20240101"] });
  for (const entries of [all, all.toReversed()]) {
    const named = nativeTools(entries, "names");
    expect(named.size).toBe(4);
    expect(named.get(fallback)?.domain).toBe("one");
    expect(named.get("rates_20240101")?.domain).toBe("posing");
  }
});
