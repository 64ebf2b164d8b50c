import { expect, test } from "vitest";
import type { StateKind } from "./open-state.ts";

const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => "ok",
    (error) => String(error.code ?? error),
  );

/** The behaviours of every store of plans. */
export function describePlans({ create }: StateKind): void {
  test("plans keep their events in order", async () => {
    const { plans } = await (await create()).open();
    const handle = await plans.open("ann", [{ at: "script" }, { at: "planned" }]);
    await plans.append(handle, "ann", 2, { at: "began", text: "ünï\0" });
    expect(await plans.read(handle, "ann")).toEqual([
      { at: "script" },
      { at: "planned" },
      { at: "began", text: "ünï\0" },
    ]);
  });

  test("plans take one event for each position, however many runs add one", async () => {
    const { plans } = await (await create()).open();
    const handle = await plans.open("ann", [1]);
    const codes = await Promise.all([2, 3, 4].map((event) => codeOf(plans.append(handle, "ann", 1, event))));
    expect(codes.toSorted()).toEqual(["CONFLICT", "CONFLICT", "ok"]);
    expect(await codeOf(plans.append(handle, "ann", 7, 1))).toBe("CONFLICT");
    expect(await plans.read(handle, "ann")).toHaveLength(2);
  });

  test("plans are unknown to other principals", async () => {
    const { plans } = await (await create()).open();
    const handle = await plans.open("ann", [1]);
    const codes = await Promise.all([
      codeOf(plans.read(handle, "bob")),
      codeOf(plans.append(handle, "bob", 1, 2)),
      codeOf(plans.append(handle, "bob", 0, 2)),
      codeOf(plans.read("plan_made-up", "ann")),
      codeOf(plans.append("__proto__", "ann", 0, 1)),
    ]);
    expect(codes).toEqual(Array(5).fill("UNKNOWN_HANDLE"));
    expect(await plans.read(handle, "ann")).toEqual([1]);
  });
}

/** The behaviours of plans that several gateways share. */
export function describeSharedPlans({ create }: Pick<StateKind, "create">): void {
  test("plans of one gateway go on at another, and take one event for each position", async () => {
    const state = await create();
    const [one, other] = [await state.open(), await state.open()];
    const handle = await one.plans.open("ann", [1]);
    await other.plans.append(handle, "ann", 1, 2);
    expect(await codeOf(one.plans.append(handle, "ann", 1, 3))).toBe("CONFLICT");
    await one.close();
    expect(await (await state.open()).plans.read(handle, "ann")).toEqual([1, 2]);
  });
}
