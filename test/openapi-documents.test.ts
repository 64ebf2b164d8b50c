import { globSync } from "node:fs";
import { createGateway, type Gateway, onEvent, type Source, type SourceContent } from "keyhole";
import { createOpenApiSource } from "keyhole/sources";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { verifies } from "./claims.ts";
import { type LoopbackApi, startLoopbackApi } from "./loopback-api.ts";

const FOLDER = "node_modules/@readme/oas-examples";
const OF_DOCUMENTS: ReadonlySet<string> = new Set(["source-refused", "content-failed", "entry-invalid"]);
const principal = { id: "me", scopes: [], allowWrite: true };

verifies(
  "openapi:any-document",
  "a collection of public documents loads, in JSON and YAML, 3.0 and 3.1",
  async () => {
    const refused: string[] = [];
    const stop = onEvent((event) => {
      if (event.type === "notice" && OF_DOCUMENTS.has(event.notice)) refused.push(event.detail);
    });
    const files = globSync(`${FOLDER}/3.{0,1}/{json,yaml}/**/*.{json,yaml}`).sort();
    expect(files.length).toBeGreaterThan(100);
    const contents: SourceContent[] = [];
    for (const [index, document] of files.entries()) {
      const source = createOpenApiSource(`d${index}`, { document, baseUrl: "https://api.example.com" });
      try {
        for await (const content of source.contents(new AbortController().signal)) {
          contents.push(content);
          break;
        }
      } catch (error) {
        refused.push(String(error));
      }
    }
    const gateway = createGateway({ domains: [], sources: [oneOf(contents)] });
    await gateway.ready();
    stop();
    expect(Object.keys((await gateway.report()).registry.ops).length).toBeGreaterThan(1_000);
    const unexpected = refused.filter((reason) => !/another origin|has no paths/.test(reason));
    expect(unexpected).toEqual([]);
    await gateway.close();
  },
);

/** All documents in one catalog, built once. */
function oneOf(contents: readonly SourceContent[]): Source {
  return {
    id: "all",
    contents: async function* () {
      yield {
        domains: contents.flatMap(({ domains }) => domains),
        drafts: contents.flatMap(({ drafts }) => drafts),
      };
    },
  };
}

describe("a service described by a public document", () => {
  let api: LoopbackApi;
  let gateway: Gateway;

  beforeAll(async () => {
    api = await startLoopbackApi();
    const options = { baseUrl: api.url, allowPrivateHosts: [api.host] };
    gateway = createGateway({
      domains: [],
      principal,
      sources: [
        createOpenApiSource("stapi", { document: `${FOLDER}/3.0/json/star-trek.json`, ...options }),
        createOpenApiSource("readme", { document: `${FOLDER}/3.1/yaml/readme.yaml`, ...options }),
        createOpenApiSource("trains", {
          document: `${FOLDER}/3.1/yaml/train-travel.yaml`,
          ...options,
          auth: { type: "bearer", token: "train-token" },
        }),
      ],
    });
    await gateway.ready();
  });
  afterAll(async () => {
    await gateway.close();
    await api.close();
  });

  test.each([
    ["create a train booking", "trains.bookings.create"],
    ["get available train trips", "trains.trips.get"],
    ["delete a booking", "trains.bookings.delete"],
    ["list train stations", "trains.stations.get"],
    ["search astronomical objects", "stapi.astronomical_object.search.post"],
    ["create a changelog", "readme.changelog.create"],
  ])("%j is answered with %s", async (query, op) => {
    const { hits } = await gateway.ask({ query, limit: 5 });
    expect(hits.map((hit) => hit.op)).toContain(op);
  });

  test("is called as its document says", async () => {
    const [trip, origin, destination] = ["ea399ba1", "efdbb9d1", "b2e783e1"].map(
      (id) => `${id}-02c2-4bc3-afb7-6788d8782b1e`,
    );
    const date = "2026-02-01T09:00:00Z";
    await gateway.exec({ op: "trains.bookings.create", args: { trip_id: trip, passenger_name: "John Doe" } });
    await gateway.get({ routes: [{ route: "trains.trips.get", params: { origin, destination, date } }] });
    await gateway.exec({
      op: "stapi.astronomical_object.search.post",
      args: { pageSize: 5, name: "Qo'noS" },
    });
    const wrong = await gateway.exec({
      op: "trains.bookings.delete",
      args: { bookingId: "b/1" },
      dryRun: false,
    });
    expect(wrong).toMatchObject({ ok: false, error: { code: "INVALID_PARAMS" } });
    expect(api.seen).toHaveLength(3);
    const [created, listed, searched] = api.seen;
    expect(created).toMatchObject({ method: "POST", url: "/bookings" });
    expect(created?.headers.authorization).toBe("Bearer train-token");
    expect(JSON.parse(String(created?.body))).toEqual({ trip_id: trip, passenger_name: "John Doe" });
    expect(Object.fromEntries(new URL(listed?.url ?? "", api.url).searchParams)).toMatchObject({
      origin,
      destination,
      date,
    });
    expect(searched).toMatchObject({ method: "POST", url: "/astronomicalObject/search?pageSize=5" });
    expect(searched?.headers.authorization).toBeUndefined();
    expect(String(searched?.body)).toBe("name=Qo%27noS");
  });
});
