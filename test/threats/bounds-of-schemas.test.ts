import { resolve } from "node:path";

import { expect, onTestFinished, test } from "vitest";
import { createMcpSource } from "../../src/sources/mcp/mcp-source.ts";
import { gatewayOf } from "../upstream-kit.ts";

const UPSTREAM = resolve("test/threats/bounds-upstream.ts");

const NESTED = [40, 1_000, 2_500].flatMap((depth) =>
  ["items", "properties", "anyOf"].flatMap((keyword) =>
    ["inputSchema", "outputSchema"].map((place) => ({ depth, keyword, place })),
  ),
);

test.each(NESTED)(
  "T17, schema-bomb: $depth levels of $keyword in the $place of a tool leave its neighbour working",
  async ({ depth, keyword, place }) => {
    const config = { command: process.execPath, args: [UPSTREAM, `${depth}`, keyword, place] };
    const gateway = gatewayOf([createMcpSource("bad", config, { trusted: true })]);
    onTestFinished(() => gateway.close());
    expect(await gateway.exec({ op: "bad.good", args: {} })).toMatchObject({ ok: true, result: "fine" });
    const deep = await gateway.exec({ op: "bad.deep", args: {} });
    expect(await gateway.exec({ op: "bad.malformed", args: {} })).toMatchObject({ ok: false });
    if (place === "inputSchema") expect(deep).toMatchObject({ ok: false, error: { code: "UNAVAILABLE" } });
  },
);
