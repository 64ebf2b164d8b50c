import { expect, test } from "vitest";
import { servingLines } from "./serve-here.ts";

test("a person sees what is up, failed and waits, each with the way on", () => {
  const lines = servingLines(
    [
      { label: "files", entries: 12, status: undefined, waiting: 0 },
      { label: "notes", entries: 3, status: undefined, waiting: 3 },
      { label: "mail", entries: 1, status: { state: "needs_login", reason: "it wants a login" }, waiting: 0 },
      { label: "new", entries: 1, status: { state: "quarantined", reason: "consent" }, waiting: 0 },
      {
        label: "bad",
        entries: 1,
        status: { state: "server_down", reason: "it exited with code 1\u001b[2J" },
        waiting: 0,
      },
    ],
    true,
  );
  expect(lines).toEqual([
    "2 of 5 servers up:",
    "  ✓ files  12 entries",
    "  ✓ notes  3 entries, 3 waiting for approval: keyhole approve notes",
    "  ! mail  it wants a login: keyhole login mail",
    "  ! new  waits for your approval to start: keyhole approve new",
    expect.stringMatching(/^ {2}✗ bad {2}it exited with code 1\P{Cc}*: keyhole doctor says how to fix it$/u),
    "Clients send the header Authorization: Bearer TOKEN. Stop with Ctrl-C.",
  ]);
});

test("without servers and an address, the person learns how clients start it", () => {
  expect(servingLines([], false)).toEqual([expect.stringContaining("keyhole connect CLIENT")]);
});

test("one server with one entry is told in the singular", () => {
  const [head, server] = servingLines([{ label: "files", entries: 1, status: undefined, waiting: 0 }], true);
  expect([head, server]).toEqual(["1 of 1 server up:", "  ✓ files  1 entry"]);
});
