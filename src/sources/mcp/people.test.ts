import { expect, test } from "vitest";
import { readServerConfig } from "./config/server-config.ts";
import { createLogins } from "./login/logins.ts";
import { ServerLogin } from "./login/server-login.ts";
import { People } from "./people.ts";

test("T17: people beyond the bound take the place of the least recently used, whose connection ends", () => {
  const config = readServerConfig("mail", { url: "https://mail.example/mcp", login: "person" });
  if (config.transport !== "http") expect.unreachable();
  const logins = createLogins({ sealKey: "a secret of the tests" });
  const closed: ServerLogin[] = [];
  const people = new People({
    label: "mail",
    toLogin: (person) =>
      new ServerLogin({ label: "mail", config, variables: {}, logins, person, maxBytes: 1 }),
    open: (login) => ({
      state: {},
      connect: () => {},
      forgetRefusal: () => {},
      close: async () => void closed.push(login),
    }),
  });
  const first = people.loginOf("person 0");
  const second = people.loginOf("person 1");
  for (let count = 2; count < 256; count += 1) people.loginOf(`person ${count}`);
  expect(people.loginOf("person 0")).toBe(first);
  people.loginOf("one more");
  expect(closed).toEqual([second]);
  expect(people.loginOf("person 0")).toBe(first);
});
