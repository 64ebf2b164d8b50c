// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are variables of configs.
import { expect } from "vitest";
import { verifies } from "../claims.ts";
import { eventually } from "../upstream-kit.ts";
import { startIssuer } from "./issuer.ts";
import { browser, closing, linkIn, SEAL_KEY, startTracker } from "./login-kit.ts";
import { call, connectAs, type Served, serveTeam } from "./served.ts";

const CLIENT = { clientId: "keyhole-console", clientSecret: "console secret" };

/** A team of an issuer, with a server at which each person logs in. */
async function serveWithTracker() {
  const theirs = closing(await startIssuer({ people: { ada: { groups: [] }, bob: { groups: [] } } }));
  const tracker = await startTracker(theirs);
  const served = await serveTeam({
    issuer: (origin) => ({
      people: { ada: { groups: ["sre"] }, bob: { groups: ["sre"] } },
      clients: [
        {
          client_id: CLIENT.clientId,
          client_secret: CLIENT.clientSecret,
          redirect_uris: [`${origin}/console/callback`],
        },
      ],
    }),
    config: {
      sealKey: "${SEAL_KEY}",
      mcpServers: { tracker: { url: tracker.url, login: "person" } },
      profiles: { ops: { servers: ["tracker"] } },
    },
    people: {
      groups: { sre: { profile: "ops", write: true } },
      console: { clientId: CLIENT.clientId, clientSecret: "${CONSOLE_SECRET}" },
    },
    env: { CONSOLE_SECRET: CLIENT.clientSecret, SEAL_KEY },
  });
  return { theirs, tracker, served };
}

/** Opens a page as a person, who shows at the issuer who they are. */
async function openAs({ issuer, url }: Served, person: string, link: string) {
  const { origin } = new URL(url);
  const mine = browser(origin);
  const asked = await mine.open(link);
  const begun = await mine.open(new URL(asked.headers.get("location") ?? "", origin).href);
  const back = await issuer.login(begun.headers.get("location") ?? "", person);
  const finished = await mine.open(back.href);
  const page = await mine.open(new URL(finished.headers.get("location") ?? "", origin).href);
  return { mine, asked, page };
}

verifies(
  ["T2", "upstream:people"],
  "where people have an issuer, a login link opens for its own person alone",
  async () => {
    const { theirs, served } = await serveWithTracker();
    const ada = await connectAs(served, "ada", served.url);
    const link = linkIn(await call(ada, "exec", { op: "tracker.log_in" }));

    const bobs = await openAs(served, "bob", link);
    expect(bobs.asked.status).toBe(303);
    expect([bobs.page.status, bobs.page.text]).toEqual([403, expect.stringContaining("for somebody else")]);
    expect((await bobs.mine.submit(link)).status).toBe(403);

    const adas = await openAs(served, "ada", link);
    expect([adas.page.status, adas.page.text]).toEqual([200, expect.stringContaining("#ada</strong>")]);
    const back = await theirs.login(await adas.mine.goOn(link), "ada");
    const done = await adas.mine.open(back.href);
    expect([done.status, done.text]).toEqual([200, expect.stringContaining("is logged in to tracker")]);
    await eventually(async () =>
      expect(await call(ada, "exec", { op: "tracker.whoami" })).toContain("You are ada"),
    );
    const bob = await connectAs(served, "bob", served.url);
    expect(await call(bob, "exec", { op: "tracker.whoami" })).toContain("LOGIN_NEEDED");
  },
);
