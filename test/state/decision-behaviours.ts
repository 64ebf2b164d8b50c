import { expect, test } from "vitest";
import type { EntryDraft } from "../../src/core/nouns/entry.ts";
import type { ServerProgram } from "../../src/core/nouns/server-program.ts";
import { verifies } from "../claims.ts";
import type { OpenState, StateKind } from "./open-state.ts";

function draft(hash: string): EntryDraft {
  const origin = { source: "files", program: "p", hash, definition: { hash }, trusted: false };
  return {
    kind: "tool",
    route: "files://tools/read",
    name: "read",
    description: `Read ${hash}.`,
    origin,
    call: async () => null,
  } as unknown as EntryDraft;
}

function stateOf({ pins }: OpenState, hash = "one"): string | undefined {
  pins.judge([draft(hash)]);
  return pins.list()[0]?.state;
}

/** The behaviours of pins and spent approvals. */
export function describeDecisions({ create }: StateKind): void {
  verifies("pins:quarantine", "a definition counts once it is approved, exactly as it was", async () => {
    const state = await (await create()).open();
    expect(stateOf(state)).toBe("pending");
    expect(await state.pins.approve("all")).toBe(1);
    expect(stateOf(state)).toBe("approved");
    expect(stateOf(state, "two")).toBe("changed");
    expect(state.pins.diff("files://tools/read")).toHaveLength(1);
    expect(stateOf(state)).toBe("approved");
    expect(await state.pins.revoke({ source: "files" })).toBe(1);
    expect(stateOf(state)).toBe("pending");
  });

  test("an approval can be spent once, by its principal", async () => {
    const { approvals } = await (await create()).open();
    expect(await approvals.spend("n", "ann")).toBe(true);
    expect(await approvals.spend("n", "ann")).toBe(false);
    expect(await approvals.spend("m", "ann")).toBe(true);
    const many = await Promise.all(Array.from({ length: 10 }, () => approvals.spend("x\0", "ann")));
    expect(many.filter(Boolean)).toHaveLength(1);
  });
}

/** The behaviours of consents over several processes. */
export function describeConsents({ create }: Pick<StateKind, "create">): void {
  const program = { label: "files", hash: "h\0", runs: [] } as unknown as ServerProgram;
  const changed = { ...program, hash: "other" };

  test("a server may start once a person has consented to exactly it, until that is taken back", async () => {
    const state = await create();
    const [one, other] = [(await state.open()).consents!, (await state.open()).consents!];
    expect(await other.isGiven(program)).toBe(false);
    await one.give([program]);
    expect(await other.isGiven(program)).toBe(true);
    expect(await other.isGiven(changed)).toBe(false);
    expect(await other.revoke([program, changed])).toBe(1);
    expect(await one.isGiven(program)).toBe(false);
  });
}

/** The behaviours of pins and spent approvals over several gateways. */
export function describeSharedDecisions({ create }: StateKind): void {
  verifies("pins:fail-closed", "a revoked approval counts on no gateway from that moment on", async () => {
    const state = await create();
    const [one, other] = [await state.open(), await state.open()];
    for (const { pins } of [one, other]) pins.judge([draft("one")]);
    const heard: (string | undefined)[] = [];
    other.pins.onChange(async () => void heard.push(stateOf(other)));
    for (let round = 0; round < 5; round += 1) {
      await one.pins.approve("all");
      await other.pins.refresh?.();
      expect(stateOf(other)).toBe("approved");
      await one.pins.revoke("all");
      await other.pins.refresh?.();
      expect(stateOf(other)).toBe("pending");
    }
    expect(heard.at(-1)).toBe("pending");
  });

  test("an approval is spent on one of the gateways", async () => {
    const state = await create();
    const gateways = [await state.open(), await state.open(), await state.open()];
    expect(new Set(gateways.map(({ approvals }) => Buffer.from(approvals.secret).toString("hex"))).size).toBe(
      1,
    );
    const spent = await Promise.all(gateways.map(({ approvals }) => approvals.spend("n", "ann")));
    expect(spent.filter(Boolean)).toHaveLength(1);
  });
}
