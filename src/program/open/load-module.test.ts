import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import type { GatewayOptions } from "../../gateway/gateway-api.ts";
import { loadModule } from "./load-module.ts";

/** The compiler asks for a row here when createGateway takes a new option. */
const OPTIONS: Record<keyof Required<GatewayOptions>, string> = {
  name: '"mine"',
  domains: '[{ name: "notes", description: "Notes", tools: [] }]',
  sources: "[]",
  principal: '{ id: "me", scopes: [] }',
  missingScope: '"ACCESS_DENIED"',
  approve: "() => true",
  ask: '"writes"',
  askAfterInjection: "false",
  limits: "{ sessionTokens: 9 }",
  learning: "false",
  index: '{ kind: "index" }',
  pins: '{ kind: "pins" }',
  storage: '{ kind: "storage" }',
  sessions: '{ kind: "sessions" }',
  results: '{ kind: "results" }',
  resultFiles: '"/results"',
  audit: '{ kind: "audit" }',
  idempotency: '{ kind: "idempotency" }',
  approvals: '{ kind: "approvals" }',
  recipes: '"/recipes"',
  cacheDirectory: '"/somewhere"',
  clock: '{ kind: "clock" }',
};

test("a served config passes every option of createGateway", async () => {
  const path = join(temporaryFolder(), "keyhole.config.mjs");
  const lines = Object.entries(OPTIONS).map(([name, value]) => `export const ${name} = ${value};`);
  writeFileSync(path, lines.join("\n"));
  const exported = (await import(path)) as GatewayOptions;
  const { options } = await loadModule(path);
  expect(options).toEqual({ ...exported });
});

test("a config without domains and sources is refused", async () => {
  const path = join(temporaryFolder(), "keyhole.config.mjs");
  writeFileSync(path, "export const limits = {};");
  await expect(loadModule(path)).rejects.toMatchObject({ code: "CONFIG_INVALID" });
});
