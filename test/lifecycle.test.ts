import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createGateway, type Gateway, type KeyholeEvent, onEvent } from "keyhole";
import { expect, onTestFinished, test } from "vitest";
import { verifies } from "./claims.ts";
import { createLibrary, type Library, libraryDomain, openLibrary, readBook } from "./library.ts";
import { manualClock } from "./manual-clock.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { eventually } from "./upstream-kit.ts";

const HOUR = 3_600_000;

async function indexedAt(gateway: Gateway, id: string): Promise<unknown> {
  return (await gateway.view()).find(`books://resources/${id}`)?.metadata.indexed_at;
}

verifies(
  "lifecycle:refresh",
  "a refresh fetches changed documents, and they can be found at once",
  async () => {
    const clock = manualClock();
    const library = createLibrary({ whale: "A whale is hunted.", island: "A ship is lost." });
    const gateway = openLibrary(library, { clock });
    expect(await readBook(gateway, "whale")).toBe("A whale is hunted.");
    const first = clock.now();
    const { version } = gateway;

    await clock.advance(1_000);
    await gateway.sources.refresh("books/library");
    expect(library.fetched).toEqual(["whale", "island"]);
    expect(gateway.version).toBe(version);

    library.books.set("island", "Treasure is found.");
    library.books.set("dune", "A planet of sand.");
    await gateway.sources.refresh("books/library");
    expect(library.fetched).toEqual(["whale", "island", "island", "dune"]);
    expect((await gateway.ask({ query: "planet of sand" })).hits[0]?.name).toBe("dune");
    expect(await readBook(gateway, "island")).toBe("Treasure is found.");
    expect(await indexedAt(gateway, "whale")).toBe(first);
    expect(await indexedAt(gateway, "island")).toBe(first + 1_000);
    expect((await gateway.view()).find("books://resources/dune")?.metadata).toMatchObject({
      source_id: "books/library",
      path_segment: "dune",
    });
  },
);

verifies(
  "lifecycle:whole",
  "a source that fails half-way keeps its documents and reports the reason",
  async () => {
    const library = createLibrary({ whale: "A whale is hunted.", island: "A ship is lost." });
    const gateway = openLibrary(library);
    await gateway.ready();
    library.books.set("whale", "A whale swims away.");
    library.books.set("island", "Treasure is found.");
    library.books.set("dune", "A planet of sand.");
    library.broken = "island";
    await expect(gateway.sources.refresh("books/library")).rejects.toThrow("the shelf of island fell down");
    expect(await readBook(gateway, "whale")).toBe("A whale is hunted.");
    expect(await readBook(gateway, "dune")).toBe("NOT_FOUND");
    expect(await gateway.sources.status("books/library")).toMatchObject({
      count: 2,
      isFresh: true,
      lastError: "the shelf of island fell down",
    });

    library.broken = undefined;
    await gateway.sources.refresh("books/library");
    expect(await readBook(gateway, "whale")).toBe("A whale swims away.");
    expect((await gateway.sources.status("books/library")).lastError).toBeUndefined();
  },
);

verifies("lifecycle:whole", "a source that never loaded does not affect the others", async () => {
  const bad = createLibrary({ a: "x" }, { name: "bad" });
  bad.broken = "a";
  const good = createLibrary({ b: "y" }, { name: "good" });
  const gateway = createGateway({ domains: [libraryDomain(bad, good)] });
  onTestFinished(() => gateway.close());
  expect(await readBook(gateway, "b")).toBe("y");
  expect(await gateway.sources.status()).toMatchObject([
    { id: "books/bad", count: 0, isFresh: false, lastError: expect.stringContaining("fell down") },
    { id: "books/good", count: 1, isFresh: true },
  ]);
});

verifies("lifecycle:single-flight", "concurrent refreshes join one read", async () => {
  const library = createLibrary({ whale: "A whale is hunted." }, { versions: false });
  const gateway = openLibrary(library);
  await gateway.ready();
  const gate = Promise.withResolvers<void>();
  library.gate = gate.promise;
  const all = Promise.all([
    gateway.sources.refresh("books/library"),
    gateway.sources.refresh("books/library"),
    gateway.sources.refresh("books/library"),
  ]);
  await eventually(() => expect(library.listed).toBe(2));
  gate.resolve();
  await all;
  expect(library.listed).toBe(2);
});

verifies("lifecycle:cancel", "a cancelled caller leaves, and the work ends when all have left", async () => {
  const library = createLibrary(
    { whale: "A whale is hunted.", island: "A ship is lost." },
    { versions: false },
  );
  const gateway = openLibrary(library);
  await gateway.ready();
  const gate = Promise.withResolvers<void>();
  library.gate = gate.promise;
  library.books.set("whale", "A whale swims away.");
  const [one, two] = [new AbortController(), new AbortController()];
  const first = gateway.sources.refresh("books/library", { signal: one.signal });
  const second = gateway.sources.refresh("books/library", { signal: two.signal });
  await eventually(() => expect(library.fetched.length).toBeGreaterThan(2));
  one.abort();
  await expect(first).rejects.toMatchObject({ code: "CANCELLED" });
  two.abort();
  await expect(second).rejects.toMatchObject({ code: "CANCELLED" });
  expect(await readBook(gateway, "whale")).toBe("A whale is hunted.");
  gate.resolve();
  library.gate = undefined;
  await gateway.sources.refresh("books/library");
  expect(await readBook(gateway, "whale")).toBe("A whale swims away.");
  expect((await gateway.sources.status("books/library")).lastError).toBeUndefined();
});

verifies("lifecycle:ttl", "fresh content is not read; stale content is read in the background", async () => {
  const clock = manualClock();
  const library = createLibrary({ whale: "A whale is hunted." });
  const gateway = openLibrary(library, { clock });
  expect(await gateway.sources.status("books/library")).toEqual({
    id: "books/library",
    state: "listed",
    count: 1,
    oldest: clock.now(),
    newest: clock.now(),
    ttlMs: 4 * HOUR,
    isFresh: true,
  });
  await clock.advance(3.5 * HOUR);
  expect(library.listed).toBe(1);
  library.books.set("whale", "A whale swims away.");
  await clock.advance(HOUR / 2);
  await eventually(async () => expect(await readBook(gateway, "whale")).toBe("A whale swims away."));
  expect(library.listed).toBe(2);
  expect((await gateway.sources.status("books/library")).isFresh).toBe(true);
});

verifies("lifecycle:ttl", "a failing source is retried with growing waits", async () => {
  const clock = manualClock();
  const library = createLibrary({ whale: "A whale is hunted." });
  library.broken = "whale";
  const gateway = openLibrary(library, { clock });
  await gateway.ready();
  expect(library.listed).toBe(1);
  await clock.advance(60_000);
  await eventually(() => expect(library.listed).toBe(2));
  // The first wait is at least half a minute, the second at least a minute.
  await clock.advance(29_000);
  expect(library.listed).toBe(2);
  library.broken = undefined;
  await clock.advance(92_000);
  await eventually(async () => expect(await readBook(gateway, "whale")).toBe("A whale is hunted."));
});

verifies(
  "lifecycle:kept",
  "a start with cached documents makes no request until they are stale",
  async () => {
    const clock = manualClock();
    const cacheDirectory = temporaryFolder();
    const library = () => createLibrary({ whale: "A whale is hunted." });
    const first = openLibrary(library(), { clock, cacheDirectory });
    await first.ready();
    const { version } = first;
    await first.close();

    await clock.advance(HOUR);
    const unused = library();
    const second = openLibrary(unused, { clock, cacheDirectory });
    expect(await readBook(second, "whale")).toBe("A whale is hunted.");
    expect(unused).toMatchObject({ listed: 0, fetched: [] });
    expect(second.version).toBe(version);
    expect((await second.sources.status("books/library")).oldest).toBe(clock.now() - HOUR);
    await second.close();

    await clock.advance(4 * HOUR);
    const stale = library();
    const gate = Promise.withResolvers<void>();
    stale.gate = gate.promise;
    stale.books.set("whale", "A whale swims away.");
    const third = openLibrary(stale, { clock, cacheDirectory });
    expect(await readBook(third, "whale")).toBe("A whale is hunted.");
    gate.resolve();
    await eventually(async () => expect(await readBook(third, "whale")).toBe("A whale swims away."));
  },
);

verifies("lifecycle:kept", "a damaged or truncated cache file is ignored", async () => {
  const cacheDirectory = temporaryFolder();
  const first = openLibrary(createLibrary({ whale: "A whale is hunted." }), { cacheDirectory });
  await first.ready();
  await first.close();
  const folder = join(cacheDirectory, "content");
  const [name = ""] = readdirSync(folder);
  const path = join(folder, name);
  const whole = readFileSync(path, "utf8");
  const damaged = [
    whole.replace("hunted", "haunted"),
    whole.slice(0, -9),
    "",
    "[]",
    whole.replace(" 1 ", " 9 "),
  ];
  for (const text of damaged) {
    writeFileSync(path, text);
    const library = createLibrary({ whale: "A whale is hunted." });
    const gateway = openLibrary(library, { cacheDirectory });
    expect(await readBook(gateway, "whale")).toBe("A whale is hunted.");
    expect(library.fetched).toEqual(["whale"]);
    await gateway.close();
  }
});

verifies("lifecycle:kept", "local content is read at every start and by every restart", async () => {
  const cacheDirectory = temporaryFolder();
  const first = openLibrary(createLibrary({ whale: "A whale is hunted." }, { isLocal: true }), {
    cacheDirectory,
  });
  await first.ready();
  await first.close();
  const changed = createLibrary({ whale: "A whale swims away." }, { isLocal: true });
  const second = openLibrary(changed, { cacheDirectory });
  expect(await readBook(second, "whale")).toBe("A whale swims away.");
  changed.books.set("whale", "A whale sings.");
  await second.sources.refresh();
  expect(await readBook(second, "whale")).toBe("A whale sings.");
});

verifies("lifecycle:kept", "cached local content is shown if the read fails", async () => {
  const events: KeyholeEvent[] = [];
  onTestFinished(onEvent((event) => events.push(event)));
  const cacheDirectory = temporaryFolder();
  const first = openLibrary(createLibrary({ whale: "A whale is hunted." }, { isLocal: true }), {
    cacheDirectory,
  });
  await first.ready();
  await first.close();
  const broken = createLibrary({ whale: "A whale swims away." }, { isLocal: true });
  broken.broken = "whale";
  const second = openLibrary(broken, { cacheDirectory });
  expect(await readBook(second, "whale")).toBe("A whale is hunted.");
  const detail = "the shelf of whale fell down";
  const failure = { type: "source", source: "books/library", state: "failed", detail };
  expect(events).toContainEqual(expect.objectContaining(failure));
});

verifies("lifecycle:refresh", "ids of sources with the same name do not depend on their order", async () => {
  const make = () => [
    [createLibrary({ a: "x" }, { name: "git" }), { basePath: "one/" }] as [Library, object],
    [createLibrary({ a: "y" }, { name: "git" }), { basePath: "two/" }] as [Library, object],
  ];
  for (const pipelines of [make(), make().reverse()]) {
    const gateway = createGateway({ domains: [libraryDomain(...pipelines)] });
    onTestFinished(() => gateway.close());
    expect((await gateway.sources.status()).map(({ id }) => id).sort()).toEqual([
      "books/git@one/",
      "books/git@two/",
    ]);
  }
});

test("if two sources have a document at one route, the first id wins", async () => {
  for (const order of [0, 1]) {
    const both = [
      createLibrary({ a: "of one" }, { name: "one" }),
      createLibrary({ a: "of two" }, { name: "two" }),
    ];
    const gateway = createGateway({ domains: [libraryDomain(...(order ? both.reverse() : both))] });
    onTestFinished(() => gateway.close());
    expect(await readBook(gateway, "a")).toBe("of one");
  }
});

test("an unknown id is answered with the nearest ids, and a label is enough", async () => {
  const gateway = createGateway({
    domains: [],
    sources: [{ id: "mcp:github", contents: async function* () {}, refresh: async () => {} }],
  });
  onTestFinished(() => gateway.close());
  await expect(gateway.sources.refresh("gihub")).rejects.toMatchObject({
    code: "NOT_FOUND",
    details: { nearest: ["mcp:github"] },
  });
  expect(await gateway.sources.status("github")).toMatchObject({ id: "mcp:github" });
});

test("events report the progress of a source", async () => {
  const events: KeyholeEvent[] = [];
  onTestFinished(onEvent((event) => events.push(event)));
  const library = createLibrary({ whale: "A whale is hunted.", island: "A ship is lost." });
  const gateway = openLibrary(library);
  await gateway.ready();
  const told = events.filter((event) => event.type === "source");
  expect(told).toContainEqual(
    expect.objectContaining({
      type: "source",
      source: "books/library",
      state: "loading",
      done: 2,
      total: 2,
    }),
  );
  expect(told.at(-1)).toMatchObject({ source: "books/library", state: "loaded", entries: 2 });
});

test("replacing the domains does not fetch fresh documents", async () => {
  const library = createLibrary({ whale: "A whale is hunted." });
  const gateway = openLibrary(library);
  await gateway.ready();
  await gateway.setDomains([{ ...libraryDomain(library), description: "Others." }]);
  expect(await readBook(gateway, "whale")).toBe("A whale is hunted.");
  expect(library.listed).toBe(1);
  await gateway.setDomains([]);
  expect(await readBook(gateway, "whale")).toBe("NOT_FOUND");
  expect(await gateway.sources.status()).toEqual([]);
});
