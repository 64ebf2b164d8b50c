import { expect, test } from "vitest";
import type { LearningEvent } from "../../src/search/learning/learning-log.ts";
import type { StateKind } from "./open-state.ts";

function used(route: string, scope = "s"): LearningEvent {
  return { kind: "used", at: 1, scope, conversation: "c", route };
}

/** The behaviours of every learning log. */
export function describeLearningLog({ create, name }: StateKind): void {
  test("events are kept in their order, and forgotten ones are gone", async () => {
    const { log } = await (await create()).open();
    await log.load();
    const odd = used("odd\0\ud800");
    for (const event of [used("a"), used("b"), used("a", "t"), odd]) log.append(event);
    expect(log.events).toEqual([used("a"), used("b"), used("a", "t"), odd]);
    expect(await log.forget({ route: "a", scope: "s" })).toBe(1);
    expect(log.events).toEqual([used("b"), used("a", "t"), odd]);
    await log.close();
  });

  test("a later start replays the events, unless they were in memory", async () => {
    const state = await create();
    const first = await state.open();
    first.log.append(used("a"));
    first.log.append(used("b"));
    await first.log.close();
    const { log } = await state.open();
    await log.load();
    expect(log.events).toEqual(name === "memory" ? [] : [used("a"), used("b")]);
  });
}

/** The behaviours of a learning log over several gateways. */
export function describeSharedLearningLog({ create }: StateKind): void {
  test("each gateway hears the events of the others once, and of what is forgotten", async () => {
    const state = await create();
    const [one, other] = [await state.open(), await state.open()];
    const heard: string[] = [];
    await Promise.all([one.log.load(), other.log.load()]);
    other.log.follow((events) =>
      heard.push(...(events?.map((event) => ("route" in event ? event.route : "")) ?? ["all again"])),
    );
    other.log.append(used("own"));
    for (let number = 0; number < 50; number += 1) one.log.append(used(`${number}`));
    await expect.poll(() => heard.length, { timeout: 20_000 }).toBe(50);
    expect(heard).toEqual(Array.from({ length: 50 }, (_, number) => `${number}`));
    await one.log.forget({ scope: "s" });
    await expect.poll(() => heard.at(-1), { timeout: 20_000 }).toBe("all again");
    expect(other.log.events).toEqual([]);
    await Promise.all([one.log.close(), other.log.close()]);
  });
}
