import { expect, test } from "vitest";
import { CLIENTS } from "../clients/clients.ts";
import { CONVERSATION, isWorthwhile, type Saving, savingLines, savingsOf } from "./savings.ts";

const KEYHOLE = { menu: 640, answer: 110, named: 0 };

/** Tools of the usual size: 37 tools of four npm servers take 4,478 tokens as definitions and 333 as names. */
function tools(count: number) {
  return Array.from({ length: count }, () => ({ definitions: 121, summaries: 45, names: 9 }));
}

function savings(count: number, ...names: string[]): Saving[] {
  const clients = CLIENTS.filter(({ name }) => names.includes(name));
  return clients.flatMap((client) => savingsOf(client, tools(count), KEYHOLE));
}

function said(count: number, ...names: string[]): string {
  return savingLines(savings(count, ...names)).join(" ");
}

test("a client that lists whole definitions carries all of them, and saves from about 20 tools on", () => {
  const [few] = savings(12, "gemini");
  expect(few).toMatchObject({ tools: 12, request: { alone: 1452, behind: 640 } });
  expect([12, 18, 25, 144].map((count) => isWorthwhile(savings(count, "gemini")[0]!))).toEqual([
    false,
    false,
    true,
    true,
  ]);
  expect(said(144, "gemini")).not.toContain("would save little");
});

test("few tools get advice against Keyhole in one sentence", () => {
  expect(said(12, "gemini")).toContain(
    "With 12 tools, Gemini CLI lists them itself for 1,452 tokens; Keyhole would save little: leave it as it is, unless tools return long results, or you want shared servers or approvals.",
  );
  expect(said(12, "codex")).toContain("Codex lists them itself for at most 1,452 tokens; Keyhole");
  expect(said(12, "gemini", "zed")).toContain("Keyhole would save little in Gemini CLI and Zed: leave them");
});

test("a client's own way to hide tools counts", () => {
  expect(savings(144, "claude-code")).toMatchObject([{ request: { alone: 144 * 9, behind: 640 } }]);
  expect(said(144, "claude-code")).toContain("Claude Code hides them behind its own search for 1,296 tokens");
  expect(savings(144, "qwen")[0]!.request.alone).toBe(144 * 45);
  // Copilot CLI lists up to 31 tools whole.
  expect(savings(31, "copilot")[0]!.request.alone).toBe(31 * 121);
  expect(savings(32, "copilot")[0]!.request.alone).toBe(32 * 9);
  // Codex has two ways, by model.
  expect(savings(144, "codex").map(({ request }) => request.alone)).toEqual([427, 144 * 121]);
  expect(said(144, "codex")).toMatch(/Codex \(gpt-5\.5\).*Codex \(other models\)/);
});

test("a client of which nothing is known is taken to list whole definitions, and the table says so", () => {
  expect(savings(40, "zed")[0]!.request.alone).toBe(40 * 121);
  expect(said(40, "zed")).toContain("Zed: not known, at most");
});

test("a conversation has one more request for each search", () => {
  const { requests, otherTokens, searches } = CONVERSATION;
  const { alone, behind } = savings(40, "opencode")[0]!.conversation;
  expect(alone).toBe(requests * (otherTokens + 40 * 121));
  const all = requests + searches;
  expect(behind).toBe(all * (otherTokens + 640) + (searches * 110 * all) / 2);
});

test("a tool that the menu names needs no search behind Keyhole, and a client that hides it searches all the same", () => {
  const { requests, otherTokens } = CONVERSATION;
  const [claudeCode] = CLIENTS.filter(({ name }) => name === "claude-code");
  const conversation = (named: number) =>
    savingsOf(claudeCode!, tools(39), { ...KEYHOLE, named })[0]!.conversation;
  expect(conversation(1)).toEqual({
    alone: conversation(0).alone,
    behind: requests * (otherTokens + 640),
  });
  expect(conversation(1).alone).toBeGreaterThan(conversation(1).behind);
  expect(conversation(0.5).behind).toBe(
    Math.round((requests + 0.5) * (otherTokens + 640) + (0.5 * 110 * (requests + 0.5)) / 2),
  );
});

test("clients with the same figures share a row, and no line is wider than a terminal of 80 columns", () => {
  const lines = savingLines(savings(40, ...CLIENTS.map(({ name }) => name)));
  expect(lines.filter((line) => / {2}40 /.test(line))).toHaveLength(5);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
});
