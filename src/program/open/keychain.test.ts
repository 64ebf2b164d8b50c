import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { createSecrets, systemKeychain } from "./secrets.ts";

/** A program with the arguments of `secret-tool`, which keeps values in files and notes how it was called. */
const SECRET_TOOL = `#!/bin/sh
echo "$@" >> "$PLACE/calls"
case "$1" in
  store) cat > "$PLACE/$6" ;;
  lookup) cat "$PLACE/$5" 2>/dev/null || exit 1 ;;
  clear) rm -f "$PLACE/$5" ;;
esac
`;

function openKeychain() {
  const place = temporaryFolder();
  writeFileSync(join(place, "secret-tool"), SECRET_TOOL);
  chmodSync(join(place, "secret-tool"), 0o755);
  const env = { PATH: `${place}:${process.env.PATH}`, PLACE: place, DBUS_SESSION_BUS_ADDRESS: "unix:" };
  return { place, env, keychain: systemKeychain("linux", env)! };
}

test("a secret goes into the keychain, and the file has only its name", async () => {
  const { place, keychain } = openKeychain();
  const path = join(temporaryFolder(), "secrets.db");
  const secrets = createSecrets(path, keychain);
  expect(await secrets.set("openai", "sk-in-the-keychain")).toBe("keychain");
  expect(readFileSync(path, "utf8")).not.toContain("sk-in-the-keychain");
  expect(readFileSync(join(place, "calls"), "utf8")).not.toContain("sk-in-the-keychain");
  expect(createSecrets(path, keychain).get("openai")).toBe("sk-in-the-keychain");
  expect(createSecrets(path, keychain).placeOf("openai")).toBe("keychain");
  // Another session may have no keychain: the value is not known there, and nothing else takes its place.
  expect(createSecrets(path).get("openai")).toBeUndefined();
  expect(await secrets.remove("openai")).toBe(true);
  expect(keychain.get("openai")).toBeUndefined();
  expect(secrets.names()).toEqual([]);
});

test("without a keychain, or with a value that it would change, the file keeps the secret", async () => {
  const path = join(temporaryFolder(), "secrets.db");
  const { env, keychain } = openKeychain();
  expect(await createSecrets(path, keychain).set("two-lines", "a\nb")).toBe("file");
  expect(systemKeychain("linux", { ...env, DBUS_SESSION_BUS_ADDRESS: "" })).toBeUndefined();
  expect(systemKeychain("win32", env)).toBeUndefined();
  const missing = systemKeychain("linux", { PATH: temporaryFolder(), DBUS_SESSION_BUS_ADDRESS: "unix:" });
  const secrets = createSecrets(path, missing);
  expect(await secrets.set("other", "value")).toBe("file");
  expect(secrets.get("other")).toBe("value");
  expect(secrets.get("two-lines")).toBe("a\nb");
});

test("the keychain's program is called as its manual says", () => {
  const { place, keychain } = openKeychain();
  expect(keychain.set("openai", "sk-1")).toBe(true);
  keychain.remove("openai");
  expect(readFileSync(join(place, "calls"), "utf8").trim().split("\n")).toEqual([
    "store --label=Keyhole: openai service keyhole account openai",
    "lookup service keyhole account openai",
    "clear service keyhole account openai",
  ]);
});

test("a keychain that returns another value, or fails, does not count as the place of a secret", () => {
  const { place, keychain } = openKeychain();
  const behave = (lines: string) => writeFileSync(join(place, "secret-tool"), `#!/bin/sh\n${lines}\n`);
  behave("echo other");
  expect(keychain.set("openai", "sk-1")).toBe(false);
  behave('if [ "$1" = store ]; then exit 1; fi; echo sk-1');
  expect(keychain.set("openai", "sk-1")).toBe(false);
  behave("echo sk-1; exit 1");
  expect(keychain.get("openai")).toBeUndefined();
  behave("printf 'sk-1\\r\\n'");
  expect(keychain.get("openai")).toBe("sk-1");
  behave("echo sk-1");
  expect(keychain.get("openai")).toBe("sk-1");
});

test("the keychain of macOS needs no session bus", () => {
  expect(systemKeychain("darwin", {})).toBeDefined();
});

test("a secret says where it is, and one that is not there cannot be removed", async () => {
  const path = join(temporaryFolder(), "secrets.db");
  const { place, keychain } = openKeychain();
  const secrets = createSecrets(path);
  expect(await secrets.remove("openai")).toBe(false);
  expect(await secrets.set("openai", "sk-1")).toBe("file");
  expect(secrets.placeOf("openai")).toBe("file");
  expect(secrets.placeOf("other")).toBeUndefined();
  expect(secrets.damage).toBeUndefined();
  // The file keeps it, so the keychain is left alone.
  expect(await createSecrets(path, keychain).remove("openai")).toBe(true);
  expect(existsSync(join(place, "calls"))).toBe(false);

  await createSecrets(path, keychain).set("later", "sk-2");
  expect(await createSecrets(path).remove("later")).toBe(true);
  expect(secrets.names()).toEqual([]);
});
