import { expect, test } from "vitest";
import { commandEnvironment } from "./command-environment.ts";

const ENV = {
  PATH: "/bin",
  SSH_AUTH_SOCK: "/run/agent",
  DATABASE_URL: "postgres://me:pass@localhost/db",
  HTTPS_PROXY: "http://proxy:8080",
  GITHUB_TOKEN: "ghp_of_the_person",
  OPENAI_API_KEY: "sk-1",
  OPENAI_BASE_URL: "http://localhost",
  GOOGLE_API_KEY: "g-1",
  GOOGLE_GENERATIVE_AI_API_KEY: "g-2",
  ANTHROPIC_AUTH_TOKEN: "a-1",
  MY_GATEWAY: "Bearer configured-secret",
};

test("commands get the person's variables, less keys of models and configured secrets", () => {
  const names = Object.keys(commandEnvironment(ENV, [], ["configured-secret"]));
  expect(names).toEqual([
    "PATH",
    "SSH_AUTH_SOCK",
    "DATABASE_URL",
    "HTTPS_PROXY",
    "GITHUB_TOKEN",
    "OPENAI_BASE_URL",
  ]);
});

test("a list names more variables, or fewer; the last rule that matches decides", () => {
  const rules = ["!*", "PATH", "*_API_KEY", "!GOOGLE_*"];
  expect(Object.keys(commandEnvironment(ENV, rules))).toEqual(["PATH", "OPENAI_API_KEY"]);
});
