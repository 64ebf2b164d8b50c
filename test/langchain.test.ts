import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { installTool } from "../scripts/tool.ts";
import { unlessUnreachable } from "./unless-unreachable.ts";

const langchain = await unlessUnreachable(() => installTool("langchain"));

test.skipIf(!langchain)("LangChain invokes the tools through its own interface, images included", () => {
  const { stdout, stderr } = spawnSync(process.execPath, ["test/langchain-program.ts"], { encoding: "utf8" });
  expect(stderr).toBe("");
  const { ask, get } = JSON.parse(stdout);
  expect(ask).toContain("shop://tools/logo/read");
  expect(JSON.stringify(get)).toContain('"image_url":{"url":"data:image/png;base64,bG9nbw=="}');
});
