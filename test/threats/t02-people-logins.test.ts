import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { keepSubjectToken } from "../../src/core/access/subject-tokens.ts";
import { createLogins } from "../../src/sources/mcp/login/logins.ts";
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
} from "../team/login-kit.ts";
import { eventually } from "../upstream-kit.ts";

async function start(options: Parameters<typeof openTeam>[1] = {}) {
  const issuer = await issuerOf();
  const tracker = await startTracker(issuer);
  const team = await openTeam({ url: tracker.url, login: "person" }, options);
  const mine = await connect(team.url, "key-of-ann");
  const link = async () => linkIn(await mine.call("exec", { op: "tracker.log_in" }));
  const isLoggedIn = async (person: string) =>
    (await team.logins.of(person).since(`tracker ${tracker.url}`)) !== undefined;
  return { issuer, tracker, team, mine, link, isLoggedIn };
}

test("T2: a link opens for its own person alone where it is known who sits at the browser", async () => {
  let atBrowser = bob.id;
  const { issuer, link, team, isLoggedIn } = await start({ whoIs: async () => ({ id: atBrowser }) });
  const url = await link();
  const other = browser(team.origin);
  expect((await other.open(url)).status).toBe(403);
  expect((await other.submit(url)).status).toBe(403);
  atBrowser = ann.id;
  const mine = browser(team.origin);
  const back = await issuer.login(await mine.goOn(url), "ann");
  atBrowser = bob.id;
  expect((await mine.open(back.href)).status).toBe(403);
  expect([await isLoggedIn(ann.id), await isLoggedIn(bob.id)]).toEqual([false, false]);
  atBrowser = ann.id;
  expect((await mine.open(back.href)).status).toBe(200);
  expect([await isLoggedIn(ann.id), await isLoggedIn(bob.id)]).toEqual([true, false]);
});

test("T2: a link is used once, also if two use it at the same time; looking at it is no use", async () => {
  const { link, team } = await start();
  const url = await link();
  for (let looks = 0; looks < 3; looks += 1) expect((await browser(team.origin).open(url)).status).toBe(200);
  const uses = await Promise.all(Array.from({ length: 8 }, () => browser(team.origin).submit(url)));
  expect(uses.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(410)]);
  expect((await browser(team.origin).open(url)).status).toBe(410);
});

test("T2: a link ends after some minutes, and one that nobody made opens nothing", async () => {
  let time = Date.now();
  const { link, team } = await start({ now: () => time });
  const url = await link();
  const guessed = `${url.slice(0, -6)}aaaaaa`;
  expect((await browser(team.origin).open(guessed)).status).toBe(410);
  time += 11 * 60_000;
  expect((await browser(team.origin).open(url)).status).toBe(410);
  expect((await browser(team.origin).submit(url)).status).toBe(410);
});

test("T2: a login that one browser began cannot be ended in another one", async () => {
  const { issuer, link, team, isLoggedIn } = await start();
  // Somebody begins a login and gets another person to agree to it at the authorization server.
  const attacker = browser(team.origin);
  const back = await issuer.login(await attacker.goOn(await link()), "bob");
  const victim = browser(team.origin);
  expect((await victim.open(back.href)).status).toBe(410);
  expect(await isLoggedIn(ann.id)).toBe(false);
  expect((await attacker.open(back.href)).status).toBe(200);
  expect((await attacker.open(back.href)).status).toBe(410);
});

test("T2: an answer with the state of another person's login is refused", async () => {
  const { issuer, link, team, isLoggedIn, tracker } = await start();
  const other = linkIn(await (await connect(team.url, "key-of-bob")).call("exec", { op: "tracker.log_in" }));
  const [mine, his] = [browser(team.origin), browser(team.origin)];
  const answer = await issuer.login(await mine.goOn(await link()), "ann");
  const hisState = new URL(await his.goOn(other)).searchParams.get("state") ?? "";
  answer.searchParams.set("state", hisState);
  expect((await mine.open(answer.href)).status).toBe(410);
  // Even with his cookies, a code that was made for another challenge is worth nothing.
  for (const [name, value] of his.cookies) mine.cookies.set(name, value);
  expect((await mine.open(answer.href)).status).toBe(502);
  expect([await isLoggedIn(ann.id), await isLoggedIn(bob.id)]).toEqual([false, false]);
  expect(tracker.calls).toEqual([]);
});

test("T2, T5: the form of a page on another site uses no link", async () => {
  const { link, team } = await start();
  const url = await link();
  for (const from of ["https://evil.example", "http://127.0.0.1:9", "null"])
    expect((await browser(team.origin).submit(url, {}, from)).status).toBe(403);
  const { headers, text: page } = await browser(team.origin).open(url);
  expect(page).toContain("For <strong>agent:ann</strong>");
  expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  expect(headers.get("cache-control")).toBe("no-store");
});

test("T3: an answer of another issuer is refused, and its code is sent nowhere", async () => {
  const { issuer, link, team, isLoggedIn } = await start();
  const mine = browser(team.origin);
  const back = await issuer.login(await mine.goOn(await link()), "ann");
  back.searchParams.set("iss", "https://evil.example");
  const before = issuer.requests.filter((path) => path === "/token").length;
  const { status, text: page } = await mine.open(back.href);
  expect([status, page]).toEqual([502, expect.stringContaining("not from the authorization server")]);
  expect(page).not.toContain("evil");
  expect(issuer.requests.filter((path) => path === "/token")).toHaveLength(before);
  expect(await isLoggedIn(ann.id)).toBe(false);
});

test("T1: the token that a person calls with never reaches a server, however they log in there", async () => {
  const { issuer, tracker, team, mine, link } = await start();
  await logIn(await link(), issuer, "ann");
  await eventually(async () => expect(await mine.whoami()).toContain("You are ann"));
  expect(tracker.seen.join("\n")).not.toContain("key-of-ann");

  const exchanging = await issuerOf({ clients: [EXCHANGER] });
  const other = await startTracker(exchanging);
  const oauth = { issuer: exchanging.url, clientId: "keyhole", clientSecret: "secret-of-keyhole" };
  const people: Record<string, typeof ann> = {};
  const second = await openTeam({ url: other.url, login: "exchange", oauth }, { people });
  const token = await exchanging.accessToken("ann", second.url);
  people[token] = { ...ann };
  keepSubjectToken(people[token], token);
  const hers = await connect(second.url, token);
  await hers.call("exec", { op: "tracker.log_in" });
  await eventually(async () => expect(await hers.whoami()).toContain("You are ann"));
  expect(other.seen.join("\n")).not.toContain(token);
  expect(await hers.whoami()).not.toContain(token);
  expect(team.origin).not.toBe(second.origin);
});

test("T1: an issuer that returns the very token that it was to exchange gets nothing passed on", async () => {
  const issuer = await issuerOf();
  const tracker = await startTracker(issuer);
  const echo = createServer(async (request, response) => {
    const form = new URLSearchParams(await text(request));
    const answer = request.url?.startsWith("/.well-known")
      ? {
          issuer: url,
          token_endpoint: `${url}/token`,
          authorization_endpoint: `${url}/a`,
          response_types_supported: [],
        }
      : { access_token: form.get("subject_token"), token_type: "Bearer", expires_in: 600 };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });
  await new Promise<void>((done) => echo.listen(0, "127.0.0.1", done));
  const url = `http://127.0.0.1:${(echo.address() as AddressInfo).port}`;
  closing({ close: () => echo.close() });
  const people = { "the-token-of-ann": { ...ann } };
  keepSubjectToken(people["the-token-of-ann"], "the-token-of-ann");
  const oauth = { issuer: url, clientId: "keyhole" };
  const team = await openTeam({ url: tracker.url, login: "exchange", oauth }, { people });
  const mine = await connect(team.url, "the-token-of-ann");
  const answer = await mine.call("exec", { op: "tracker.log_in" });
  expect(answer).toContain("the issuer returned the token that it was to exchange");
  expect(tracker.seen.join("\n")).not.toContain("the-token-of-ann");
});

test("T14: a login cannot be read from the store with another key, nor moved to another person", async () => {
  const { issuer, tracker, team, mine, link } = await start();
  await logIn(await link(), issuer, "ann");
  await eventually(async () => expect(await mine.whoami()).toContain("You are ann"));
  const server = `tracker ${tracker.url}`;
  const { token = "" } = tracker.calls.at(-1) ?? {};
  expect((await team.logins.of(ann.id).read(server))?.tokens?.access_token).toBe(
    token.replace("Bearer ", ""),
  );
  const bytes = ["", "-wal"].map((end) => readFileSync(`${team.file}${end}`, "latin1")).join("");
  expect(bytes).not.toContain(token.replace("Bearer ", ""));

  const stolen = closing(createLogins({ path: team.file, sealKey: "a secret that is another one" }));
  expect(await stolen.of(ann.id).read(server)).toBeUndefined();
  expect(await stolen.of(ann.id).since(server)).toBeUndefined();
  expect(
    await closing(createLogins({ path: team.file }))
      .of(ann.id)
      .read(server),
  ).toBeUndefined();

  const database = new DatabaseSync(team.file);
  database.exec(`update stored_values set owner = '${bob.id}' where kind = 'login' and owner = '${ann.id}'`);
  const plain = JSON.stringify(
    JSON.stringify({ logins: [{ issuer: "x", tokens: { access_token: "planted" } }] }),
  );
  database
    .prepare("insert into stored_values values ('login', ?, ?, 0, ?, 1, 'planted', ?)")
    .run(ann.id, server, Date.now(), plain);
  database.close();
  const moved = closing(createLogins({ path: team.file, sealKey: SEAL_KEY }));
  expect(await moved.of(bob.id).read(server)).toBeUndefined();
  expect(await moved.of(ann.id).read(server)).toBeUndefined();
  expect(await (await connect(team.url, "key-of-bob")).whoami()).toContain("LOGIN_NEEDED");
});

test("T14: no endpoint and no page shows a login, also not to those who run the gateway", async () => {
  const admin = { id: "admin", scopes: ["keyhole:admin"], allowWrite: true };
  const people = { "key-of-ann": ann, "key-of-admin": admin };
  const { issuer, tracker, team, mine, link } = await start({ people });
  const url = await link();
  const pages = [(await logIn(url, issuer, "ann")).text];
  await eventually(async () => expect(await mine.whoami()).toContain("You are ann"));
  const { body } = await team.api("key-of-admin", "/api/openapi.json");
  const paths = Object.entries(body.paths ?? {}).flatMap(([path, rows]) =>
    "get" in (rows as unknown as object) && path !== "/api/events" ? [path] : [],
  );
  expect(paths).toContain("/api/logins");
  for (const path of paths) {
    const answer = await fetch(`${team.origin}${path}?id=mcp:tracker`, {
      headers: { authorization: "Bearer key-of-admin" },
      signal: AbortSignal.timeout(3_000),
    }).catch(() => undefined);
    if (!answer?.headers.get("content-type")?.startsWith("text/event-stream"))
      pages.push((await answer?.text()) ?? "");
  }
  const kept = await team.logins.of(ann.id).read(`tracker ${tracker.url}`);
  const secrets = [kept?.tokens?.access_token, kept?.tokens?.refresh_token];
  expect(secrets.every((secret) => secret !== undefined)).toBe(true);
  for (const secret of secrets) expect(pages.join("\n")).not.toContain(secret);
  expect((await team.api("key-of-admin", "/api/logins")).body).toEqual({ logins: [{ server: "tracker" }] });
});

const EXCHANGER = {
  client_id: "keyhole",
  client_secret: "secret-of-keyhole",
  grant_types: ["urn:ietf:params:oauth:grant-type:token-exchange"],
  response_types: [],
  redirect_uris: [],
};
