import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/claims.ts";
import {
  CONFIRMED_CORPUS,
  CORPUS_RULES,
  confirmedRules,
  SHELL_CORPUS,
  WIDE_CORPUS,
  wideRules,
} from "../../../../test/shell-corpus.ts";
import { READER_KINDS } from "../../../../test/shell-corpus-readers.ts";
import { decide, refusedInPlan } from "../decide.ts";
import { type PermissionRules, readRules } from "../permission.ts";
import { toShellRequest } from "../to-request.ts";

const place = { root: "/nowhere/project", home: "/home/me" };
const MOST_SHOWN = 20;

/** The first commands that are not classified as expected, with both verdicts. */
async function misjudged(
  corpus: typeof SHELL_CORPUS,
  rulesFor: (command: string) => PermissionRules,
): Promise<string[]> {
  const wrong: string[] = [];
  for (const [expected, command] of corpus) {
    const rules = [readRules("user", rulesFor(command))];
    const { verdict } = decide(await toShellRequest(command, place.root), rules, place);
    if (verdict !== expected)
      wrong.push(`${verdict} instead of ${expected}: ${JSON.stringify(command.slice(0, 80))}`);
    if (wrong.length === MOST_SHOWN) break;
  }
  return wrong;
}

describe("the corpus of shell commands", () => {
  test("has at least 800 commands, each once, and at least 120 everyday ones", () => {
    for (const corpus of [SHELL_CORPUS, WIDE_CORPUS])
      expect(new Set(corpus.map(([, command]) => command)).size).toBe(corpus.length);
    expect(SHELL_CORPUS.length + WIDE_CORPUS.length).toBeGreaterThanOrEqual(800);
    expect(WIDE_CORPUS.filter(([verdict]) => verdict === "allow").length).toBeGreaterThanOrEqual(120);
  });

  verifies("permissions:corpus", "is classified as expected, without one false allow", async () => {
    expect(await misjudged(SHELL_CORPUS, () => CORPUS_RULES)).toEqual([]);
  });

  verifies("permissions:corpus", "is classified as expected by rules for whole programs", async () => {
    expect(await misjudged(WIDE_CORPUS, wideRules)).toEqual([]);
  });

  verifies(
    "permissions:corpus",
    "lets no program pass as a reader that writes, runs, loads or sends by its words",
    async () => {
      const commands = Object.values(READER_KINDS).flatMap((kind) => kind.trim().split("\n"));
      expect(new Set(commands).size).toBeGreaterThanOrEqual(133);
      const passing: string[] = [];
      for (const command of commands) {
        const request = await toShellRequest(command, place.root);
        const { verdict } = decide(request, [readRules("user", wideRules(command))], place);
        if (verdict === "allow") passing.push(command);
        if (refusedInPlan(request) === undefined) passing.push(`in plan mode: ${command}`);
      }
      expect(passing).toEqual([]);
    },
  );

  test("lets only git commands that change nothing run in plan mode", async () => {
    const changing = `commit -m x;add .;merge x;rebase x;reset x;push;fetch;pull;branch x;branch -m x;branch -a -u x;tag x;
      tag -a x;stash;stash push;remote add x y;checkout x;switch x;cherry-pick x;revert x;notes edit;bisect start;gc;
      worktree add ../x;hash-object -w x;write-tree;pack-refs;sparse-checkout set x;fsck --lost-found;config a.b c;
      branch -v x;branch -vv x HEAD;branch --sort=refname x;branch --format=x y;branch --column x;branch -v -- x;
      branch --sort refname x;branch --list --no-list x;tag --sort=refname x;tag --format=x y;tag --column x;
      remote -v add x y;remote -v rename x y;remote -v update;remote --verbose set-branches x y;remote show x`;
    const looking = `status;log -3;diff;show HEAD;branch;branch -a;branch -vv;branch --contains x;branch -a --sort=refname;
      branch --list 'x*';branch -r --merged x;tag;tag -l x;tag -n1 x;tag --contains x;stash list;
      remote -v;reflog;worktree list;rev-parse HEAD;config --get user.name;blame x;grep x;bisect log`;
    const refused = async (line: string) =>
      refusedInPlan(await toShellRequest(`git ${line.trim()}`, place.root)) !== undefined;
    const [changes, looks] = [changing.split(";"), looking.split(";")];
    expect(await Promise.all(changes.map(refused))).toEqual(changes.map(() => true));
    expect(await Promise.all(looks.map(refused))).toEqual(looks.map(() => false));
  });

  verifies(
    "permissions:corpus",
    "is classified as expected by rules that a person has confirmed",
    async () => {
      expect(await misjudged(CONFIRMED_CORPUS, confirmedRules)).toEqual([]);
    },
  );
});
