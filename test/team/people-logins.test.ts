import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { keepSubjectToken } from "../../src/core/access/subject-tokens.ts";
import { createLogins } from "../../src/sources/mcp/login/logins.ts";
import { verifies } from "../claims.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { eventually } from "../upstream-kit.ts";
import {
  ann,
  bob,
  browser,
  closing,
  connect,
  issuerOf,
  linkIn,
  logIn,
  openTeam,
  SEAL_KEY,
  startTracker,
} from "./login-kit.ts";

/** A team whose people have logged in already. */
async function loggedIn(...people: ("ann" | "bob")[]) {
  const issuer = await issuerOf();
  const tracker = await startTracker(issuer);
  const team = await openTeam({ url: tracker.url, login: "person" });
  const clients = await Promise.all(people.map((name) => connect(team.url, `key-of-${name}`)));
  for (const [at, client] of clients.entries()) {
    const asked = await client.call("exec", { op: at === 0 ? "tracker.log_in" : "tracker.whoami" });
    await logIn(linkIn(asked), issuer, people[at]!);
    await eventually(async () => expect(await client.whoami()).toContain(`You are ${people[at]}`));
  }
  return { issuer, tracker, team, clients };
}

verifies("upstream:people", "a call without a login answers with a link, and works after it", async () => {
  const issuer = await issuerOf();
  const tracker = await startTracker(issuer);
  const team = await openTeam({ url: tracker.url, login: "person" });
  const mine = await connect(team.url, "key-of-ann");
  const first = await mine.call("exec", { op: "tracker.log_in" });
  expect(first).toContain("LOGIN_NEEDED");
  expect(first).toContain("they have not logged in yet");
  const { text: page } = await browser(team.origin).open(linkIn(first));
  expect(page).toContain("For <strong>agent:ann</strong>");
  expect(page).toContain(new URL(tracker.url).origin);
  const { status, text } = await logIn(linkIn(first), issuer, "ann");
  expect([status, text]).toEqual([200, expect.stringContaining("agent:ann is logged in to tracker")]);
  await eventually(async () => expect(await mine.whoami()).toContain("You are ann"));
  expect(await (await connect(team.url, "key-of-bob")).whoami()).toContain("LOGIN_NEEDED");
});

for (const legacy of [false, true]) {
  const revision = legacy ? "2025-11-25" : "2026-07-28";
  verifies("upstream:people", `a client of ${revision} opens the page, and its call goes on`, async () => {
    const { issuer, team } = await loggedIn("ann");
    const opened: string[] = [];
    const mine = await connect(team.url, "key-of-bob", {
      legacy,
      open: async (url) => {
        opened.push(url);
        // The person is slower than the client.
        setTimeout(() => void logIn(url, issuer, "bob"), 300);
        return "accept";
      },
    });
    expect(await mine.whoami(7)).toContain("You are bob, round 7");
    expect(opened).toEqual([expect.stringContaining(`${team.origin}/login?link=`)]);
    expect(await mine.whoami(8)).toContain("You are bob, round 8");
    expect(opened).toHaveLength(1);
  });
}

verifies("upstream:people", "who declines to open the page gets the link in the answer", async () => {
  const { team } = await loggedIn("ann");
  const mine = await connect(team.url, "key-of-bob", { open: async () => "decline" });
  expect(linkIn(await mine.whoami())).toContain(team.origin);
});

test("upstream:people, T13: two people who call at once get only their own answers, over their own tokens", async () => {
  const { tracker, clients } = await loggedIn("ann", "bob");
  tracker.calls.length = 0;
  const calls = Array.from({ length: 100 }, (_, round) =>
    clients.map(async (client, at) => [["ann", "bob"][at], round, await client.whoami(round)] as const),
  );
  for (const [name, round, text] of await Promise.all(calls.flat()))
    expect(text).toContain(`You are ${name}, round ${round}.`);
  const used = new Set(tracker.calls.map(({ who, token }) => `${who} ${token}`));
  expect([...used].map((text) => text.split(" ")[0]).sort()).toEqual(["ann", "bob"]);
});

test("upstream:people, T13: tools that only one person's login lists are neither shown to others nor callable by them", async () => {
  const issuer = await issuerOf();
  const tracker = await startTracker(issuer, { only: { bob: "secret_plan" } });
  const team = await openTeam({ url: tracker.url, login: "person" });
  const [mine, other] = await Promise.all([connect(team.url, "key-of-ann"), connect(team.url, "key-of-bob")]);
  await logIn(linkIn(await mine.call("exec", { op: "tracker.log_in" })), issuer, "ann");
  await eventually(async () => expect(await mine.whoami()).toContain("You are ann"));
  await logIn(linkIn(await other.whoami()), issuer, "bob");
  expect(await other.whoami()).toContain("You are bob");
  expect(await mine.call("ask", { query: "secret plan" })).not.toContain("secret_plan");
  expect(await mine.call("exec", { op: "tracker.secret_plan" })).toContain("NOT_FOUND");
});

verifies(
  "upstream:people",
  "people give their own keys on the page, which are sent and never shown",
  async () => {
    const issuer = await issuerOf();
    const tracker = await startTracker(issuer, { keys: { "key-a-1234567": "ann", "key-b-1234567": "bob" } });
    // biome-ignore lint/suspicious/noTemplateCurlyInString: filled in for each person.
    const headers = { "X-Api-Key": "${person:TRACKER_KEY}" };
    const team = await openTeam({ url: tracker.url, login: "person", headers });
    const mine = await connect(team.url, "key-of-ann");
    const link = linkIn(await mine.call("exec", { op: "tracker.log_in" }));
    const page = await browser(team.origin).open(link);
    expect(page.text).toContain(`<input type="password" name="value:TRACKER_KEY"`);
    const kept = await browser(team.origin).submit(link, { "value:TRACKER_KEY": "key-a-1234567" });
    expect(kept.text).toContain("is logged in to tracker");
    expect(kept.text).not.toContain("key-a");
    await eventually(async () => expect(await mine.whoami()).toContain("You are ann"));
    const other = await connect(team.url, "key-of-bob");
    const wrong = linkIn(await other.whoami());
    await browser(team.origin).submit(wrong, { "value:TRACKER_KEY": "no-such-key" });
    const right = linkIn(await other.whoami());
    await browser(team.origin).submit(right, { "value:TRACKER_KEY": "key-b-1234567" });
    expect(await other.whoami()).toContain("You are bob");
    expect(await mine.whoami()).toContain("You are ann");
  },
);

verifies(
  "upstream:people",
  "a person sees that they are logged in and since when, and logs out",
  async () => {
    const { issuer, team, clients } = await loggedIn("ann", "bob");
    const { body } = await team.api("key-of-ann", "/api/logins");
    expect(body).toEqual({ logins: [{ server: "tracker", since: expect.any(Number) }] });
    const made = await team.api("key-of-ann", "/api/logins/link", { server: "tracker" });
    const gone = await browser(team.origin).submit(made.body.url ?? "", { forget: "" });
    expect(gone.text).toContain("The login to tracker was deleted");
    await eventually(async () => expect(await clients[0]!.whoami()).toContain("LOGIN_NEEDED"));
    expect(await clients[1]!.whoami()).toContain("You are bob");
    const forgotten = await team.api("key-of-bob", "/api/logins/forget", { server: "tracker" });
    expect(forgotten.body).toEqual({ wasLoggedIn: true });
    await eventually(async () => expect(await clients[1]!.whoami()).toContain("LOGIN_NEEDED"));
    await logIn(linkIn(await clients[1]!.whoami()), issuer, "bob");
    expect(await clients[1]!.whoami()).toContain("You are bob");
  },
);

verifies(
  "upstream:people",
  "a link works at another gateway of the same people, and so does its answer",
  async () => {
    const issuer = await issuerOf();
    const tracker = await startTracker(issuer);
    const config = { url: tracker.url, login: "person" } as const;
    const one = await openTeam(config);
    const other = await openTeam(config, { file: one.file });
    // Both stand behind one address.
    other.links.serveAt(one.origin);
    const mine = await connect(other.url, "key-of-ann");
    const link = linkIn(await mine.call("exec", { op: "tracker.log_in" }));
    expect((await logIn(link, issuer, "ann")).text).toContain("is logged in");
    expect(await mine.call("exec", { op: "tracker.log_in" })).toContain("Logged in to tracker");
    await eventually(async () => expect(await mine.whoami()).toContain("You are ann"));
  },
);

verifies(
  "upstream:people",
  "the token of a person is exchanged at their issuer for one of the server",
  async () => {
    const issuer = await issuerOf({ clients: [EXCHANGER] });
    const tracker = await startTracker(issuer);
    const people = { "token-of-ann": { ...ann }, "token-of-bob": { ...bob } };
    const oauth = { issuer: issuer.url, clientId: "keyhole", clientSecret: "secret-of-keyhole" };
    const team = await openTeam({ url: tracker.url, login: "exchange", oauth }, { people });
    for (const name of ["ann", "bob"] as const)
      keepSubjectToken(people[`token-of-${name}`], await issuer.accessToken(name, team.url));
    const [mine, other] = await Promise.all([
      connect(team.url, "token-of-ann"),
      connect(team.url, "token-of-bob"),
    ]);
    await mine.call("exec", { op: "tracker.log_in" });
    await eventually(async () => expect(await mine.whoami(1)).toContain("You are ann, round 1"));
    expect(await other.whoami(2)).toContain("You are bob, round 2");
    const exchanges = issuer.requests.filter((path) => path === "/token").length;
    expect(await mine.whoami(3)).toContain("You are ann, round 3");
    expect(issuer.requests.filter((path) => path === "/token")).toHaveLength(exchanges);
  },
);

const EXCHANGER = {
  client_id: "keyhole",
  client_secret: "secret-of-keyhole",
  grant_types: ["urn:ietf:params:oauth:grant-type:token-exchange"],
  response_types: [],
  redirect_uris: [],
};

verifies(
  "upstream:people",
  "logins of an older program stay, and a new key opens what the old one sealed",
  async () => {
    const path = join(temporaryFolder(), "keyhole.db");
    const old = new DatabaseSync(path);
    old.exec(`CREATE TABLE parts (name TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT;
    INSERT INTO parts VALUES ('logins', 1);
    CREATE TABLE logins (server TEXT NOT NULL, issuer TEXT NOT NULL, login TEXT NOT NULL, saved INTEGER NOT NULL,
      PRIMARY KEY (server, issuer)) STRICT;
    CREATE TABLE challenges (server TEXT PRIMARY KEY, challenge TEXT NOT NULL) STRICT;
    CREATE TABLE renewals (server TEXT PRIMARY KEY, owner TEXT NOT NULL, until INTEGER NOT NULL) STRICT;
    INSERT INTO logins VALUES ('mail', 'one', '{"issuer":"one","tokens":{"access_token":"a"}}', 1),
      ('mail', 'two', '{"issuer":"two","tokens":{"access_token":"b"}}', 2)`);
    old.close();
    const plain = closing(createLogins({ path }));
    expect((await plain.read("mail"))?.tokens?.access_token).toBe("b");
    expect((await plain.read("mail", "one"))?.tokens?.access_token).toBe("a");
    const sealed = closing(createLogins({ path, sealKey: SEAL_KEY }));
    expect((await sealed.read("mail"))?.issuer).toBe("two");
    await sealed.of("ann").save("mail", { issuer: "mine", expiresAt: 1 });
    const rotated = closing(createLogins({ path, sealKey: ["another secret of the tests", SEAL_KEY] }));
    expect((await rotated.of("ann").read("mail"))?.issuer).toBe("mine");
    await rotated.of("ann").save("mail", { issuer: "mine", expiresAt: 2 });
    expect(await sealed.of("ann").read("mail")).toBeUndefined();
  },
);
