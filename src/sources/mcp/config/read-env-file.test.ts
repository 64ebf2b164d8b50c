import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { readVariables, toLaunch } from "./to-launch.ts";

const folder = mkdtempSync(join(tmpdir(), "keyhole-env-file-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const config = { transport: "stdio" as const, command: "node", args: [], env: {}, envFile: ".env" };

function read(text: string): Record<string, string> {
  writeFileSync(join(folder, ".env"), text);
  return readVariables("shop", join(folder, ".env"));
}

test("an envFile gives variables", () => {
  expect(read("TOKEN=abc\nPYTHONUNBUFFERED=1\nGIT_AUTHOR_NAME=me\nMY_PATH=x\nENVIRONMENT=test")).toEqual({
    TOKEN: "abc",
    PYTHONUNBUFFERED: "1",
    GIT_AUTHOR_NAME: "me",
    MY_PATH: "x",
    ENVIRONMENT: "test",
  });
});

test.each(
  `PATH Path LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES NODE_OPTIONS NODE_PATH npm_config_registry
  PYTHONPATH PYTHONSTARTUP PIP_INDEX_URL UV_INDEX_URL UV_PYTHON PERL5OPT RUBYOPT JAVA_TOOL_OPTIONS BASH_ENV ENV
  GIT_SSH_COMMAND GIT_CONFIG_COUNT DOTNET_STARTUP_HOOKS LUA_INIT_5_4`.split(/\s+/),
)("T21: an envFile that changes after the consent cannot set %s", (name) => {
  expect(() => read(`TOKEN=abc\n${name}=./evil`)).toThrow(
    new RegExp(`envFile .*\\.env sets ${name}, which decides what runs`),
  );
});

test("the config itself, which a person has consented to, may set them", () => {
  read("TOKEN=abc");
  const options = { label: "shop", variables: {}, environment: {}, cwd: folder };
  const { env } = toLaunch({ ...config, env: { NODE_OPTIONS: "--trace-warnings" } } as never, options);
  expect(env).toEqual({ TOKEN: "abc", NODE_OPTIONS: "--trace-warnings" });
});
