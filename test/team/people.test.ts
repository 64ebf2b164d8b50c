import { expect, test } from "vitest";
import { openProgram } from "../threats/program.ts";
import { call, connectAs, GROUPS, serveTeam, TEAM } from "./served.ts";

test("people:login: a client without a token logs in by itself, with the rights of its person's group", async () => {
  const served = await serveTeam();
  const ada = await connectAs(served, "ada", served.url);
  expect(await call(ada, "get", { routes: ["tickets.list_tickets"] })).toContain("list_tickets by process");
  expect(await call(ada, "exec", { op: "tickets.create_tickets", args: {} })).toContain("by process");
  expect(await call(ada, "get", { routes: ["orders.list_orders"] })).toContain("not found");
  const bob = await connectAs(served, "bob", `${served.url}/p/crm`);
  expect(await call(bob, "get", { routes: ["orders.list_orders"] })).toContain("list_orders by process");
  expect(await call(bob, "exec", { op: "orders.create_orders", args: {} })).not.toContain("by process");
  expect(served.issuer.requests).toContain("/reg");
});

test("people:login: every address says where to log in, for exactly this address", async () => {
  const served = await serveTeam();
  for (const address of [served.url, `${served.url}/p/ops`]) {
    const refused = await fetch(address, { method: "POST", body: "{}" });
    const { origin, pathname } = new URL(address);
    const metadata = `${origin}/.well-known/oauth-protected-resource${pathname}`;
    expect(refused.status).toBe(401);
    const challenge = refused.headers.get("www-authenticate");
    expect(challenge).toContain(`resource_metadata="${metadata}"`);
    expect(challenge).toContain('scope="openid"');
    expect(await (await fetch(metadata)).json()).toEqual({
      resource: address,
      authorization_servers: [served.issuer.url],
      scopes_supported: ["openid"],
      bearer_methods_supported: ["header"],
    });
  }
});

test("a mistake in people ends the start, and an issuer that does not answer is told", async () => {
  const program = openProgram();
  const people = { issuer: "http://127.0.0.1:9", audience: "http://127.0.0.1:8/mcp", groups: GROUPS };
  const mistakes: readonly (readonly [object, RegExp])[] = [
    [{ issuer: "http://id.example.com" }, /issuer.*https/],
    [{ groups: {} }, /groups.*must name a group/],
    [{ groups: { sre: { wirte: true } } }, /wirte.*nearest key is write/],
    [{ console: { clientId: "x", clientSecret: "$" + "{NOT_SET}" } }, /NOT_SET is not set/],
  ];
  for (const [mistake, words] of mistakes) {
    const config = program.write("team.json", { ...TEAM, people: { ...people, ...mistake } });
    const { code, errors } = await program.keyhole("serve", "--http", "--config", config);
    expect([code, errors]).toEqual([1, expect.stringMatching(words)]);
    expect(errors).toContain("Correct people in it");
  }
  const served = await serveTeam({
    people: { issuer: "http://127.0.0.1:9", groups: { a: { profile: "gone" } } },
  });
  await expect.poll(served.printed).toContain("The issuer http://127.0.0.1:9 cannot be used: ");
  expect(served.printed()).toContain("group:a has the profile gone, which is not in the config");
});
