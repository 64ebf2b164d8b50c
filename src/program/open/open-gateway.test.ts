import { readdirSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test, vi } from "vitest";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { openGateway, principalOf } from "./open-gateway.ts";
import { DEFAULT_SETTINGS } from "./settings-schema.ts";
import { recipesFolder } from "./user-folders.ts";

let home: string;
beforeEach(() => {
  home = temporaryFolder();
  vi.stubEnv("HOME", home);
  vi.stubEnv("XDG_CACHE_HOME", join(home, "cache"));
  vi.stubEnv("KEYHOLE_STATE", join(home, "state"));
  return () => vi.unstubAllEnvs();
});

const note = { name: "list_notes", description: "List notes.", execute: () => [] };
const domains = [{ name: "notes", description: "Notes.", tools: [note] }];

test.each([
  ["a command", {}],
  ["a chat", { isAgent: true }],
])("the search index of %s is kept between starts", async (_, more) => {
  const { gateway, close } = openGateway({ options: { domains }, settings: DEFAULT_SETTINGS, ...more });
  await gateway.ask({ query: "notes" });
  await close();
  expect(readdirSync(join(home, "cache/keyhole/indexes"))).toHaveLength(1);
});

test("a recipe that is kept in a chat is a tool of every gateway of its config, also with a folder of data", async () => {
  vi.stubEnv("KEYHOLE_DATA_DIR", join(home, "data"));
  const request = {
    options: { domains },
    settings: DEFAULT_SETTINGS,
    allowWrite: true,
    recipes: recipesFolder("a.json"),
  };
  const chat = openGateway({ ...request, isAgent: true });
  const kept = { name: "count-notes", description: "Counts the notes." };
  await chat.gateway.run(
    { code: "return (await tools.notes.note.list()).length;", keep: kept },
    { approve: () => true },
  );
  await chat.close();
  const command = openGateway(request);
  expect((await command.gateway.ask({ query: "count-notes" })).text).toContain("count-notes");
  await command.close();
  const other = openGateway({ ...request, recipes: recipesFolder("b.json") });
  expect((await other.gateway.ask({ query: "count-notes" })).text).not.toContain("recipes.");
  await other.close();
});

test.each([
  ["nothing", {}, false],
  ["the command line", { allowWrite: true }, true],
  ["the profile", { profile: { allowWrite: true } }, true],
  ["the config", { options: { principal: { id: "me", scopes: [], allowWrite: true } } }, true],
])("%s decides whether a caller may write, by one rule for all commands", (_, request, allowWrite) => {
  expect(principalOf(request)).toMatchObject({ allowWrite });
});
