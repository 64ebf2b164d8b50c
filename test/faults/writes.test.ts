import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { createSessionLogs } from "keyhole/agent";
import { createEmbeddedIndex } from "keyhole/search";
import { describe, expect, test } from "vitest";
import { openGrantsNow } from "../../src/core/access/grants.ts";
import type { ContentSource } from "../../src/core/nouns/pipeline.ts";
import { openRecordFile } from "../../src/core/storage/record-file.ts";
import { createSqliteSessionStore } from "../../src/core/storage/session-store.ts";
import { openSqliteStorage } from "../../src/core/storage/sql-storage.ts";
import { readSettingsFile } from "../../src/program/open/read-settings-file.ts";
import { saveSetting } from "../../src/program/open/save-setting.ts";
import { openEmbeddedIndex } from "../../src/search/embedded-index.ts";
import { LearningLog } from "../../src/search/learning/learning-log.ts";
import { createContentStore } from "../../src/sources/content/content-store.ts";
import { createListingCache } from "../../src/sources/mcp/listing-cache.ts";
import { createLogins } from "../../src/sources/mcp/login/logins.ts";
import { packTools } from "../../src/sources/mcp/packed-tools.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { failWrites } from "./failing-writes.ts";

const OLD = "openai";
const NEW = "anthropic";

/** A store with one value, which `read` reads as the next process would. */
interface Store {
  write(folder: string, value: string): unknown;
  read(folder: string): unknown;
}

const SOURCE = {} as ContentSource;

const STORES: Readonly<Record<string, Store>> = {
  settings: {
    write: (folder, value) =>
      saveSetting("providers.default", value, { file: join(folder, "settings.json") }),
    read: async (folder) => {
      const read = await readSettingsFile(join(folder, "settings.json"));
      return read.state === "read" ? read.value.providers?.default : read.state;
    },
  },
  search: {
    write: async (folder, value) => {
      const index = createEmbeddedIndex();
      await index.put(value === OLD ? [document(1)] : [document(1), document(2)]);
      await index.save(join(folder, "search.bin"));
    },
    read: async (folder) => {
      const opened = await openEmbeddedIndex(join(folder, "search.bin"));
      if (!opened.ok) return opened.reason;
      return opened.value.status().documents === 1 ? OLD : NEW;
    },
  },
  listings: {
    write: (folder, value) => {
      const nothing = {
        tools: packTools([]),
        prompts: [],
        resources: [],
        templates: [],
        skills: [],
        leftOut: [],
      };
      const listing = { ...nothing, warnings: [value] };
      return createListingCache(folder, "up", []).write({ savedAt: 1, listing });
    },
    read: async (folder) => (await createListingCache(folder, "up", []).read())?.listing.warnings[0],
  },
  documents: {
    write: (folder, content) => {
      const raw = { id: "1", name: "1", contentType: "text/plain", content };
      const held = { readAt: 1, documents: [{ raw, indexedAt: 1, seenAt: 1 }] };
      return createContentStore(folder).write("docs", SOURCE, held as never);
    },
    read: async (folder) =>
      (await createContentStore(folder).read("docs", SOURCE))?.documents[0]?.raw.content,
  },
};

function document(number: number) {
  return {
    id: `d://tools/${number}`,
    kind: "tool" as const,
    domain: "d",
    visibility: "listed" as const,
    scopes: [],
    tags: [],
    name: `tool_${number}`,
    aliases: [],
    description: "A tool.",
    parameters: "",
    domainText: "",
    content: "",
  };
}

describe.each([
  ["the nth write fails", { stays: false }],
  ["the nth write and all later ones fail", { stays: true }],
] as const)("%s", (_, options) => {
  test.each(Object.entries(STORES))(
    "failed-write: the store of %s is old or new, never torn",
    async (_, store) => {
      for (let nth = 1; ; nth += 1) {
        const folder = temporaryFolder();
        await store.write(folder, OLD);
        const failing = await failWrites(nth, options);
        try {
          await store.write(folder, NEW);
        } catch {
          // Stores whose loss costs only time do not report a failure, so both are right.
        } finally {
          failing.restore();
        }
        const found = await store.read(folder);
        expect([nth, found]).toEqual([nth, found === OLD && failing.failed ? OLD : NEW]);
        expect(readdirSync(folder).filter((name) => name.endsWith(".tmp"))).toEqual([]);
        await store.write(folder, NEW);
        expect([nth, await store.read(folder)]).toEqual([nth, NEW]);
        if (failing.failed) continue;
        expect(nth).toBeGreaterThan(4);
        return;
      }
    },
  );
});

test("failed-write: a conversation keeps every message that was written whole, and says what failed", async () => {
  for (let nth = 1; ; nth += 1) {
    const folder = temporaryFolder();
    const logs = createSessionLogs({ path: folder });
    const log = logs.create();
    const say = (content: string) => log.message({ role: "user", content });
    say("first");
    await log.settle();
    const failing = await failWrites(nth);
    say("second");
    const complaint = await log.settle().catch((error: { code: string }) => error.code);
    failing.restore();
    if (failing.failed) expect([nth, complaint]).toEqual([nth, "SESSION_NOT_KEPT"]);
    say("third");
    await log.settle();
    await log.close();
    const { messages, log: resumed } = await createSessionLogs({ path: folder }).resume(log.id);
    await resumed.close();
    const told = messages.map(({ content }) => content);
    expect(told.filter((text) => text !== "second")).toEqual(["first", "third"]);
    if (failing.failed) continue;
    expect(told).toEqual(["first", "second", "third"]);
    return;
  }
});

const { error: noPrlimit } = spawnSync("prlimit", ["--version"]);

// A library that listens for all signals would end the process, unless somebody else listens too.
process.on("SIGXFSZ", () => {});

/** Limits the size of files that this process may write, as a full disk does. */
function limitFiles(bytes: number | "unlimited"): void {
  spawnSync("prlimit", ["--pid", String(process.pid), `--fsize=${bytes}:unlimited`]);
}

const PAGE = 4_096;
const LARGE = "x".repeat(5 * PAGE);

test.skipIf(noPrlimit)(
  "failed-write: sessions in SQLite are old or new on a disk that fills up",
  async () => {
    for (let pages = 0; ; pages += 1) {
      const path = join(temporaryFolder(), "state.db");
      const store = await createSqliteSessionStore(path);
      const handle = await store.open("ann");
      await store.update(handle, "ann", (memory) => ({ ...memory, rules: [OLD], unveiled: [OLD] }));
      limitFiles(pages * PAGE);
      let isWritten = true;
      try {
        await store.update(handle, "ann", (memory) => ({ ...memory, rules: [LARGE], unveiled: [LARGE] }));
      } catch {
        isWritten = false;
      } finally {
        limitFiles("unlimited");
      }
      store.close();
      const again = await createSqliteSessionStore(path);
      const { rules, unveiled } = await again.read(handle, "ann");
      again.close();
      expect(rules).toEqual(unveiled);
      expect([pages, rules]).toEqual([pages, [isWritten ? LARGE : OLD]]);
      if (isWritten) return expect(pages).toBeGreaterThan(2);
    }
  },
);

test.skipIf(noPrlimit)(
  "failed-write: the learning log keeps its events, and takes new ones after a failure",
  async () => {
    const used = (route: string) => ({ kind: "used", at: 1, scope: "", conversation: "c", route }) as const;
    for (let pages = 0; ; pages += 1) {
      const path = join(temporaryFolder(), "learning.db");
      const open = () => {
        const file = openSqliteStorage(path);
        return { file, log: new LearningLog(file.open) };
      };
      const { file, log } = open();
      const add = async (route: string) => {
        log.append(used(route));
        await log.close();
      };
      await add("first");
      limitFiles(pages * PAGE);
      await add(LARGE).finally(() => limitFiles("unlimited"));
      await add("third");
      file.close();
      const again = open();
      await again.log.load();
      await again.log.close();
      again.file.close();
      const routes = again.log.events.map((event) => (event as { route: string }).route);
      expect(routes.filter((route) => route !== LARGE)).toEqual(["first", "third"]);
      if (routes.includes(LARGE)) return expect(pages).toBeGreaterThan(2);
    }
  },
);

test.skipIf(noPrlimit)("failed-write: approvals are old or new on a disk that fills up", async () => {
  for (let pages = 0; ; pages += 1) {
    const path = join(temporaryFolder(), "approvals.db");
    const open = () => openGrantsNow(openRecordFile(path), "definition");
    const give = (hash: string, note: string) =>
      open().change(
        new Map(["one", "other"].map((key) => [key, { givenAt: 1, hash, definition: { note } }])),
      );
    await give(OLD, "");
    limitFiles(pages * PAGE);
    const isWritten = await give(NEW, LARGE).then(
      () => true,
      (error: { code: string }) => error.code !== "STATE_UNREADABLE",
    );
    limitFiles("unlimited");
    const hashes = [...open().entries().values()].map(({ hash }) => hash);
    expect([pages, hashes, open().damage]).toEqual([pages, Array(2).fill(isWritten ? NEW : OLD), undefined]);
    await give(NEW, LARGE);
    expect(open().get("one")?.hash).toBe(NEW);
    if (isWritten) return expect(pages).toBeGreaterThan(2);
  }
});

test.skipIf(noPrlimit)("failed-write: logins in SQLite are old or new on a disk that fills up", async () => {
  for (let pages = 0; ; pages += 1) {
    const path = join(temporaryFolder(), "logins.db");
    const logins = createLogins({ path });
    await logins.save("up", { issuer: "i", expiresAt: 1 });
    limitFiles(pages * PAGE);
    const login = { issuer: "i", expiresAt: 2, client: { client_id: LARGE, issuer: "i" } };
    const isWritten = await logins.save("up", login).then(
      () => true,
      () => false,
    );
    limitFiles("unlimited");
    await logins.close();
    const again = createLogins({ path });
    const found = await again.read("up");
    await again.close();
    expect([pages, found?.expiresAt]).toEqual([pages, isWritten ? 2 : 1]);
    expect(found?.client?.client_id.length).toBe(isWritten ? LARGE.length : undefined);
    if (isWritten) return;
  }
});
