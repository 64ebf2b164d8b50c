import { expect, test } from "vitest";
import { secretsIn, secretsInArgs, secretsInFields } from "./secret-values.ts";

const KEY = "k3Y9x".repeat(5);

test.each<[string, string, string[]]>([
  ["DB_PASS", "s3cr3t", ["s3cr3t"]],
  ["API_KEY", "plain-words-here", ["plain-words-here"]],
  ["ANYTHING", KEY, [KEY]],
  ["authorization", `Bearer ${KEY}`, [KEY]],
  ["authorization", `Basic ${btoa("me:pa55word!")}`, [btoa("me:pa55word!"), "pa55word!"]],
  ["DATABASE_URL", "postgres://app:p%40ssw0rd@db/main", ["p%40ssw0rd", "p@ssw0rd"]],
  ["url", `https://api.example.com/mcp?api_key=${KEY}&page=2`, [KEY]],
  ["CONNECTION", "Server=db;User=app;Password=hunter2hunter2;", ["hunter2hunter2"]],
  ["DSN", "app:hunter22@tcp(db:3306)/main", ["hunter22"]],
  ["CLIENT_JWT", "hunter22hunter22", ["hunter22hunter22"]],
  ["user", "app:hunter22", ["hunter22"]],
  ["DSN", "host=db user=app password='hunter2 hunter2'", ["hunter2 hunter2"]],
])("finds the secret in %s=%s", (name, value, secrets) => {
  expect(secretsIn(name, value)).toEqual(secrets);
});

test("ordinary values of a configuration do not count", () => {
  const fields = {
    NODE_ENV: "production",
    LOG_LEVEL: "debug",
    HOME: "/home/somebody/a1b2c3d4e5f6a7b8",
    REGION: "eu-central-1",
    PROJECT: "my-project-123456",
    MODEL: "claude-sonnet-4-5-20250929",
    TENANT: "6f9619ff-8b86-d011-b42d-00cf4fc964ff",
    BASE: "https://api.example.com/v1?page=2",
    VERBOSE: "true",
    PIN_TOKEN: "1234",
    ADMIN_PASSWORD: "changeme",
    DB_PASSWORD: "postgres",
    accept: "application/json, text/event-stream",
  };
  expect(secretsInFields(fields)).toEqual([]);
});

test("finds secrets among arguments", () => {
  const args = [
    "--token",
    KEY,
    `--api-key=${KEY}1`,
    "DB_PASS=s3cr3t-1",
    "postgres://a:passw0rd-1@h/d",
    "--root",
    "/srv/data",
    "-u",
    "me:hunter22",
    "--bearer",
    "abcdefgh1",
    ...["--user", "100000:100000"],
  ];
  const named = ["s3cr3t-1", "passw0rd-1", "hunter22", "abcdefgh1"];
  expect(secretsInArgs(args)).toEqual([KEY, `${KEY}1`, ...named]);
});
