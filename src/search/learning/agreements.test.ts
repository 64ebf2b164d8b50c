import { expect, test } from "vitest";
import { createAgreements } from "./agreements.ts";

const isSameNeed = (one: string, other: string) => one[0] === other[0];
const use = { scope: "s", principal: "a", route: "r", query: "x" };

test("the third principal with a like query agrees, and each later one once", () => {
  const { note } = createAgreements(isSameNeed);
  const said = ["a", "a", "b", "b", "c", "c", "d"].map((principal) => note({ ...use, principal }));
  expect(said).toEqual([false, false, false, false, true, false, true]);
});

test("another entry, scope or need is not agreed on", () => {
  const { note } = createAgreements(isSameNeed);
  for (const principal of ["a", "b"]) note({ ...use, principal });
  for (const other of [{ route: "q" }, { scope: "t" }, { query: "y" }]) {
    expect(note({ ...use, principal: "c", ...other })).toBe(false);
  }
  expect(note({ ...use, principal: "c" })).toBe(true);
});

test("one principal with many queries pushes out no other", () => {
  const { note } = createAgreements(isSameNeed);
  for (const principal of ["a", "b"]) note({ ...use, principal });
  for (let number = 0; number < 500; number += 1) {
    note({ ...use, principal: "m", query: String.fromCharCode(200 + number) });
  }
  expect(note({ ...use, principal: "c" })).toBe(true);
});
