import { existsSync, readFileSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import type { PlainObject } from "../../src/base/util/plain-object.ts";
import type { SourceContent } from "../../src/core/nouns/source.ts";
import type { Client } from "../../src/program/clients/client.ts";
import { CLIENTS } from "../../src/program/clients/clients.ts";
import { editConfig } from "../../src/program/clients/edit-config.ts";
import { readJsonConfig } from "../../src/program/open/read-json-config.ts";
import { readProfile, serversOf } from "../../src/sources/mcp/config/overrides.ts";
import { createMcpSource } from "../../src/sources/mcp/mcp-source.ts";
import { createSharedServers } from "../../src/sources/mcp/shared-servers.ts";
import type { ServerSource } from "../../src/sources/servers/from-config.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { PATIENT } from "../upstream-kit.ts";
import { clientOf, pathOf, setUp, write } from "./kit.ts";

const CHAOS = resolve("src/testing/chaos-upstream.ts");
const PROGRAMS = ["first", "second", "third"];
const NAMES = ["github", "gh", "files", "notes"];
const TOOLS = ["add", "fail", "crash", "slow"];

/** A server of a client, before it is written in the words of the client. */
interface Wanted {
  readonly name: string;
  readonly program: string;
  readonly isOff: boolean;
  readonly include: readonly string[] | undefined;
  readonly exclude: readonly string[] | undefined;
  /** Writes an empty `env` and a default `type`, which change nothing. */
  readonly isWordy: boolean;
}

/** Which of a client's own fields forbid tools. Clients without such a field allow all. */
const FORBIDS: Readonly<Record<string, readonly [include?: string, exclude?: string]>> = {
  codex: ["enabled_tools", "disabled_tools"],
  copilot: ["tools"],
  goose: ["available_tools"],
  windsurf: [undefined, "disabledTools"],
  opencode: [],
  zed: [],
  continue: [],
};

function written(client: Client, { program, isOff, include, exclude, isWordy }: Wanted): PlainObject {
  const [included, excluded] = fieldsOfClient(client);
  const args = [CHAOS, program];
  const off = ["opencode", "codex", "goose", "zed"].includes(client.name)
    ? { enabled: false }
    : { disabled: true };
  const started: PlainObject =
    client.name === "opencode"
      ? { type: "local", command: [process.execPath, ...args], ...(isWordy && { environment: {} }) }
      : client.name === "goose"
        ? { type: "stdio", name: "x", cmd: process.execPath, args, ...(isWordy && { envs: {} }) }
        : { command: process.execPath, args, ...(isWordy && { env: {} }) };
  return {
    ...started,
    ...(isOff && !client.isOff && off),
    ...(included !== undefined && include && { [included]: include }),
    ...(excluded !== undefined && exclude && { [excluded]: exclude }),
  };
}

function fieldsOfClient({ name }: Client): readonly [include?: string, exclude?: string] {
  return FORBIDS[name] ?? ["includeTools", "excludeTools"];
}

/** The tools that the client's own config allows, as `program tool`. */
function allowed(client: Client, servers: readonly Wanted[]): Set<string> {
  const [included, excluded] = fieldsOfClient(client);
  return new Set(
    servers.flatMap(({ program, isOff, include, exclude }) => {
      // Goose takes an empty list for all tools.
      const isAll = included === undefined || !include || (client.name === "goose" && include.length === 0);
      return TOOLS.filter(
        (tool) =>
          !isOff && (isAll || include.includes(tool)) && !(excluded !== undefined && exclude?.includes(tool)),
      ).map((tool) => `${program} ${tool}`);
    }),
  );
}

/** The tools that a source offers, as `program tool`. Ends the source at the signal, or else at once. */
async function offered(source: ServerSource, signal?: AbortSignal): Promise<string[]> {
  const { runs } = source.program();
  const end = new AbortController();
  const contents = source.contents(signal ?? end.signal, () => {})[Symbol.asyncIterator]();
  let content: SourceContent | undefined;
  do content = (await contents.next()).value;
  while (content?.isStarting);
  end.abort();
  const names = (content?.drafts ?? []).filter(({ kind }) => kind === "tool").map(({ name }) => name);
  const program = "args" in runs ? runs.args[1] : "";
  return names.filter((tool) => TOOLS.includes(tool)).map((tool) => `${program} ${tool}`);
}

const server = fc.record({
  program: fc.constantFrom(...PROGRAMS),
  isOff: fc.boolean(),
  include: fc.option(fc.subarray(TOOLS), { nil: undefined }),
  exclude: fc.option(fc.subarray(TOOLS), { nil: undefined }),
  isWordy: fc.boolean(),
});
const servers = fc
  .uniqueArray(fc.constantFrom(...NAMES), { maxLength: 3 })
  .chain((names) => fc.tuple(...names.map((name) => server.map((one): Wanted => ({ name, ...one })))));

test("clients:restrictions: after all clients are connected, each has exactly the tools that its own config allowed", async () => {
  const home = temporaryFolder();
  const { machine, ownPath, connections, plan } = setUp(home);
  const shared = createSharedServers();
  const options = { shared, trusted: true, cwd: home, limits: PATIENT };
  const end = new AbortController();
  onTestFinished(() => end.abort());
  for (const program of PROGRAMS) {
    const config = { command: process.execPath, args: [CHAOS, program] };
    await offered(createMcpSource("keeper", config, options), end.signal);
  }
  const names = CLIENTS.map(({ name }) => name);
  const order = fc.shuffledSubarray(names, { minLength: names.length });
  const configs = fc.tuple(...CLIENTS.map(() => servers));
  await fc.assert(
    fc.asyncProperty(order, configs, async (connected, all) => {
      const byClient = new Map(CLIENTS.map((client, index) => [client, all[index]!]));
      rmSync(ownPath, { force: true });
      for (const [client, wanted] of byClient) {
        const { path, format, at } = {
          ...client.places(machine).find((place) => place.path === pathOf(client, machine))!,
        };
        // Gemini CLI and Qwen Code may also switch servers off in a list.
        const excluded = client.isOff ? wanted.filter(({ isOff }) => isOff).map(({ name }) => name) : [];
        const text = excluded.length > 0 ? JSON.stringify({ mcp: { excluded } }) : "";
        const set = Object.fromEntries(wanted.map((one) => [one.name, written(client, one)]));
        const edit = { at, remove: [], set, ...(client.dialect.isList && { isList: true }) };
        write(path, await editConfig({ path, format }, text, [edit]));
      }
      const texts = CLIENTS.map((client) => readFileSync(pathOf(client, machine), "utf8"));
      for (const name of connected) await connections.make(await plan(clientOf(name)));

      for (const [client, wanted] of byClient) {
        const sources = await readJsonConfig(
          ownPath,
          { ...options, profile: client.name },
          { choose: (own, profiles) => serversOf(own, readProfile(profiles, client.name)) },
        );
        const seen = new Set((await Promise.all(sources.map((source) => offered(source)))).flat());
        expect([client.name, seen]).toEqual([client.name, allowed(client, wanted)]);
      }
      expect(shared.size).toBe(PROGRAMS.length);
      for (const name of connected.toReversed()) await connections.undo(name);
      expect(CLIENTS.map((client) => readFileSync(pathOf(client, machine), "utf8"))).toEqual(texts);
      expect(existsSync(ownPath)).toBe(false);
    }),
    { numRuns: 15 },
  );
});
