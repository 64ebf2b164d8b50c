import { expect, test } from "vitest";
import { discover, EMPTY_MEMORY, meet } from "../../src/core/sessions/working-memory.ts";
import { isKnown } from "../../src/core/storage/session-store.ts";
import { verifies } from "../claims.ts";
import type { StateKind } from "./open-state.ts";
import { refusalOf } from "./refusal-of.ts";

/** The behaviours of every store of sessions. */
export function describeSessions({ create }: StateKind): void {
  verifies("session:memory", "sessions start empty and keep changes", async () => {
    const { sessions } = await (await create()).open();
    const handle = await sessions.open("ann");
    expect(await sessions.read(handle, "ann")).toEqual(EMPTY_MEMORY);
    const entity = { type: "page", id: "1", name: "H\0me \ud800", timestamp: new Date(7) };
    await sessions.update(handle, "ann", (memory) => meet(discover(memory, ["a.b"]), [entity]));
    const expected = { ...EMPTY_MEMORY, discoveredTools: ["a.b"], entities: [entity] };
    expect(await sessions.read(handle, "ann")).toEqual(expected);
  });

  verifies(
    "session:principal",
    "sessions are refused alike when foreign, unknown, ended or expired",
    async () => {
      const state = await create();
      const { sessions: short } = await state.open({ sessions: { idleMs: 20 } });
      const { sessions } = await (await create()).open();
      const ended = await sessions.open("bob");
      await sessions.end(ended, "bob");
      const expired = await short.open("bob");
      await expect.poll(() => refusalOf(short.read(expired, "bob"), expired)).toBeDefined();
      const foreign = await sessions.open("ann");
      const refusals = [
        await refusalOf(sessions.read(foreign, "bob"), foreign),
        await refusalOf(sessions.read(foreign, "ann\0"), foreign),
        await refusalOf(
          sessions.update(foreign, "bob", (memory) => memory),
          foreign,
        ),
        await refusalOf(sessions.end(foreign, "bob"), foreign),
        await refusalOf(sessions.read("ses_made-up", "bob"), "ses_made-up"),
        await refusalOf(sessions.read("__proto__", "bob"), "__proto__"),
        await refusalOf(sessions.read("ses_\0", "bob"), "ses_\\u0000"),
        await refusalOf(sessions.read(ended, "bob"), ended),
        await refusalOf(short.read(expired, "bob"), expired),
      ];
      expect(new Set(refusals).size).toBe(1);
      expect(refusals[0]).toContain("UNKNOWN_HANDLE");
      expect(await sessions.read(foreign, "ann")).toEqual(EMPTY_MEMORY);
    },
  );

  test("the least recently used session is forgotten to make room, first of the principal that has most", async () => {
    const { sessions } = await (await create()).open({ sessions: { maxSessions: 6 } });
    const bobs = await sessions.open("bob");
    const first = await sessions.open("ann");
    // Sessions used in the same millisecond are equally old.
    const opened = Date.now();
    await expect.poll(() => Date.now()).toBeGreaterThan(opened + 1);
    const handles = [first];
    for (let more = 0; more < 16; more += 1) handles.push(await sessions.open("ann"));
    const known = await Promise.all(handles.map((handle) => isKnown(sessions, handle, "ann")));
    const kept = handles.filter((_, at) => known[at]);
    expect(kept.length).toBeLessThanOrEqual(2 * 6);
    expect(kept).toContain(handles.at(-1));
    expect(kept).not.toContain(first);
    expect(await isKnown(sessions, bobs, "bob")).toBe(true);
  });

  test("a change that fails changes nothing", async () => {
    const { sessions } = await (await create()).open();
    const handle = await sessions.open("ann");
    const fail = () => {
      throw new RangeError("no");
    };
    await expect(sessions.update(handle, "ann", fail)).rejects.toThrow(RangeError);
    expect(await sessions.read(handle, "ann")).toEqual(EMPTY_MEMORY);
    await sessions.update(handle, "ann", (memory) => discover(memory, ["a"]));
    expect((await sessions.read(handle, "ann")).discoveredTools).toEqual(["a"]);
  });

  verifies("session:nothing-lost", "all of many concurrent changes count", async () => {
    const { sessions } = await (await create()).open();
    const handle = await sessions.open("ann");
    const names = Array.from({ length: 40 }, (_, number) => `tool.${number}`);
    await Promise.all(
      names.map((name) => sessions.update(handle, "ann", (memory) => discover(memory, [name]))),
    );
    expect((await sessions.read(handle, "ann")).discoveredTools.toSorted()).toEqual(names.toSorted());
  });
}

/** The behaviours of sessions that several gateways share. */
export function describeSharedSessions({ create }: Pick<StateKind, "create">): void {
  verifies(
    ["session:nothing-lost", "two-gateways"],
    "the changes of all gateways count, and each reads those of the others",
    async () => {
      const state = await create();
      const gateways = [await state.open(), await state.open(), await state.open()];
      const handle = await gateways[0]!.sessions.open("ann");
      const names = Array.from({ length: 60 }, (_, number) => `tool.${number}`);
      await Promise.all(
        names.map((name, at) =>
          gateways[at % 3]!.sessions.update(handle, "ann", (memory) => discover(memory, [name])),
        ),
      );
      for (const { sessions } of gateways) {
        expect((await sessions.read(handle, "ann")).discoveredTools.toSorted()).toEqual(names.toSorted());
        expect(await isKnown(sessions, handle, "bob")).toBe(false);
      }
      await gateways[1]!.sessions.end(handle, "ann");
      expect(await isKnown(gateways[2]!.sessions, handle, "ann")).toBe(false);
      await expect(gateways[0]!.sessions.update(handle, "ann", (memory) => memory)).rejects.toThrow(
        "not known",
      );
    },
  );
}
