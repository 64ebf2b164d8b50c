import { expect } from "vitest";
import { verifies } from "../../../test/claims.ts";
import { BARE_ENTRY } from "../nouns/bare-entry.ts";
import type { ToolEntry } from "../nouns/entry.ts";
import { createExtractor } from "../sessions/extractor.ts";
import { keepResult, MOST_NAMES, MOST_RESULTS } from "../sessions/working-memory.ts";
import { createSessionStore, toCallSession } from "../storage/session-store.ts";
import { rememberRun } from "./run-entry.ts";

const RESULTS = 10_000;
const NONE = { scopes: [], routes: [] };

function createTools(count: number): ToolEntry[] {
  return Array.from({ length: count }, (_, number) => ({
    ...BARE_ENTRY,
    kind: "tool",
    route: `cms://tools/page/get_${number}`,
    op: `cms.page.get_${number}`,
    domain: "cms",
    name: `get_${number}`,
    description: "Get a page.",
    lane: "read",
    requiresConfirmation: false,
    extraction: { path: "pages", type: "page", nameField: "name", isArray: true },
    call: async () => null,
  }));
}

async function createContext() {
  const store = createSessionStore();
  const fail = (reason: unknown) => expect.unreachable(String(reason));
  return {
    session: await toCallSession(store, await store.open("ann"), "ann", fail),
    services: { extractor: createExtractor(fail) },
  };
}

verifies("session:nothing-lost", "memory stays bounded over 10,000 results", async () => {
  const tools = createTools(500);
  const { session, ...context } = await createContext();
  const { extractor } = context.services;
  let entities = 0;
  const counted: typeof extractor.extract = (...given) => {
    const extracted = extractor.extract(...given);
    entities += extracted.length;
    return extracted;
  };
  const services = { extractor: { ...extractor, extract: counted } };
  const sizes: number[] = [];
  for (let run = 0; run < RESULTS; run += 1) {
    const pages = Array.from({ length: 7 }, (_, index) => ({ id: run + index, name: `Page ${run + index}` }));
    const step = { route: `cms://tools/next/${run % 1_000}`, prose: "Next", lane: "read" as const };
    const ran = { value: { pages }, guidance: [step] };
    rememberRun(tools[run % tools.length]!, { session, services }, ran, { dry: false, args: {} });
    session.update((memory) => keepResult(memory, { handle: `result://${run}`, name: "pages", needs: NONE }));
    if (run % 1_000 === 999) sizes.push(JSON.stringify(session.memory).length);
  }
  expect(entities).toBe(RESULTS * 5);
  const { memory } = session;
  expect(memory.usedTools).toHaveLength(MOST_NAMES);
  expect(memory.discoveredTools).toHaveLength(MOST_NAMES);
  expect(memory.unveiled).toHaveLength(MOST_NAMES);
  expect(memory.results).toHaveLength(MOST_RESULTS);
  expect(memory.entities.map(({ id }) => Number(id))).toContain(RESULTS - 1);
  // From the first thousand on, only the digits of ids and counts grow: at most three for each id that was read.
  expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThan(1_000 + 3 * memory.read.length);
});

verifies("session:nothing-lost", "every use of a tool within the window is counted", async () => {
  const tools = createTools(100);
  const context = await createContext();
  for (let run = 0; run < RESULTS; run += 1) {
    rememberRun(tools[run % tools.length]!, context, { value: {}, guidance: [] }, { dry: false, args: {} });
  }
  const { usedTools } = context.session.memory;
  expect(usedTools.map(({ count }) => count)).toEqual(tools.map(() => RESULTS / tools.length));
});
