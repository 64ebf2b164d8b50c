// Commands that had another name do what they did, and say the new one.
import { expect, test } from "vitest";
import { temporaryFolder } from "../temporary-folder.ts";
import { keyhole } from "./kit.ts";

test.each<[old: string, now: string, name?: string]>([
  ["servers allow nobody", "approve nobody"],
  ["servers allow --all --yes abc", "approve --hash abc"],
  ["servers revoke nobody", "approve --revoke nobody"],
  ["pins approve --all", "approve"],
  ["pins diff nobody://tools/x", "approve nobody://tools/x"],
  ["pins revoke nobody", "approve --revoke nobody"],
  ["pins --json", "approve --json"],
  ["pins none.json", "approve --config none.json"],
  ["trust", "approve ."],
  ["trust sub --end", "approve ./sub --revoke"],
  ["trust --yes abc", "approve . --hash abc"],
  ["token", "agents"],
  ["token list --json", "agents list --json"],
  ["token revoke nobody", "agents revoke nobody"],
  ["report --json", "catalog report --json"],
  ["audit verify", "logs verify"],
  ["audit tail -n 3", "logs calls -n 3"],
  ["audit export --since 1h --principal ann", "logs calls --all --since 1h --agent ann"],
  ["index build . --json", "catalog index . --json"],
])("keyhole %s is keyhole %s", async (old, now) => {
  const home = temporaryFolder();
  const { errors, ...outcome } = await keyhole(home, old.split(" "));
  const today = await keyhole(home, now.split(" "));
  const [sentence, ...more] = errors.split("\n");
  expect(sentence).toMatch(/^keyhole [a-z ]+ is now keyhole [a-z -]+\.$/);
  expect({ ...outcome, errors: more.join("\n") }).toEqual(today);
});
