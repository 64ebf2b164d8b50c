// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the shell reads them.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/claims.ts";
import { CORPUS_RULES, SHELL_CORPUS } from "../../../../test/shell-corpus.ts";
import { temporaryFolder } from "../../../../test/temporary-folder.ts";
import { decide } from "../decide.ts";
import { readRules } from "../permission.ts";
import { toShellRequest } from "../to-request.ts";
import { parseShell } from "./parse-shell.ts";

const place = { root: "/nowhere/project", home: "/home/me" };
const rules = [readRules("user", CORPUS_RULES)];

async function classify(command: string): Promise<string> {
  return decide(await toShellRequest(command, place.root), rules, place).verdict;
}

const judged = (verdict: string) =>
  fc.constantFrom(...SHELL_CORPUS.filter(([expected]) => expected === verdict).map(([, command]) => command));
const ALLOWED = [
  "git status",
  "ls",
  "ls -la src",
  "cat README.md",
  "echo hello",
  "npm test",
  "wc -l package.json",
];
const DENIED = ["rm x", "rm -rf .", "git push", "git -P push --force", "curl example.com", "/bin/rm x"];
const ASKED = ["touch x", "make all", "npm install x", "node x.js", "whoowns"];
const JOINTS = [" && ", " || ", " ; ", " | ", " & ", "\n", ";", "&&", "||", "|", "&"];

/** Each character of a word bare, escaped or in quotes of its own. */
function spelled(word: string): fc.Arbitrary<string> {
  const characters = [...word].map((character) =>
    fc.constantFrom(character, `\\${character}`, `'${character}'`, `"${character}"`),
  );
  return fc.tuple(...characters).map((parts) => parts.join(""));
}

/** A command of the grammar around one given command. */
function around(inner: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const good = fc.constantFrom(...ALLOWED);
  const joint = fc.constantFrom(...JOINTS);
  const wrap = fc.constantFrom<(text: string) => string>(
    (text) => text,
    (text) => `(${text})`,
    (text) => `{ ${text}; }`,
    (text) => `echo $(${text})`,
    (text) => `echo "a $(${text}) b"`,
    (text) => `echo \`${text}\``,
    (text) => `sudo ${text}`,
    (text) => `env A=1 ${text}`,
    (text) => `timeout 5 ${text}`,
    (text) => `ls | xargs ${text}`,
    (text) => `find . -exec ${text} +`,
    (text) => `sh -c '${text.replaceAll("'", "'\\''")}'`,
    (text) => `${text} > out/x 2>&1`,
    (text) => `${text} # comment`,
    (text) => `cat <<EOF\ntext\nEOF\n${text}`,
    // A second line would belong to the here-document.
    (text) => (text.includes("\n") ? text : `cat <<'EOF' && ${text}\n$(id)\nEOF`),
  );
  const joined = (text: fc.Arbitrary<string>) =>
    fc
      .tuple(text, fc.option(fc.tuple(good, joint)), fc.option(fc.tuple(joint, good)))
      .map(([each, before, after]) => {
        // A comment or a here-document would take the next command into itself.
        const last = /#|<</.test(each) ? "" : (after?.join("") ?? "");
        return `${before?.join("") ?? ""}${each}${last}`;
      });
  const wrapped = (text: fc.Arbitrary<string>) => fc.tuple(wrap, text).map(([put, each]) => put(each));
  return joined(wrapped(joined(wrapped(inner))));
}

describe("a command of the grammar", () => {
  verifies("permissions:corpus", "is never allowed when a part of it is denied", async () => {
    await fc.assert(
      fc.asyncProperty(around(fc.constantFrom(...DENIED)), async (command) => {
        expect(await classify(command)).not.toBe("allow");
      }),
      { numRuns: 600 },
    );
  });

  test("is never allowed when a part of it asks", async () => {
    await fc.assert(
      fc.asyncProperty(around(fc.constantFrom(...ASKED)), async (command) => {
        expect(await classify(command)).not.toBe("allow");
      }),
      { numRuns: 300 },
    );
  });

  test("is denied however a denied program is spelled", async () => {
    const program = fc.constantFrom("rm", "curl", "/bin/rm", "/usr/bin/curl").chain(spelled);
    await fc.assert(
      fc.asyncProperty(program, fc.constantFrom(...JOINTS), async (name, joint) => {
        expect(await classify(`${name} x`)).toBe("deny");
        expect(await classify(`git status${joint}${name} x`)).toBe("deny");
      }),
    );
  });

  test("is denied whatever options stand between the words of a rule", async () => {
    const option = fc.constantFrom(
      "-P",
      "--no-pager",
      "-C sub",
      "-c a.b=c",
      "--git-dir=x",
      "--unknown",
      "-p -x y",
    );
    await fc.assert(
      fc.asyncProperty(fc.array(option, { maxLength: 5 }), fc.boolean(), async (options, more) => {
        expect(await classify(["git", ...options, "push", ...(more ? ["origin"] : [])].join(" "))).toBe(
          "deny",
        );
      }),
    );
  });

  test("asks unless all parts are allowed, and is allowed where they are", async () => {
    const plain = (verdict: string) => judged(verdict).filter((command) => /^[a-z]+ [a-z ]+$/.test(command));
    const joint = fc.constantFrom(...JOINTS);
    await fc.assert(
      fc.asyncProperty(
        plain("allow"),
        joint,
        plain("allow"),
        plain("ask"),
        async (one, between, other, bad) => {
          expect(await classify(`${one}${between}${other}`)).toBe("allow");
          expect(await classify(`${one}${between}${bad}`)).not.toBe("allow");
          expect(await classify(`${bad}${between}${one}`)).not.toBe("allow");
        },
      ),
    );
  });
});

describe("text that is not understood fails closed", () => {
  const POISON = [
    "$(id)",
    '"$(id)"',
    "`id`",
    "$X",
    "${X}",
    "${X:-y}",
    "<(id)",
    ">(id)",
    "$((1+1))",
    "$[1]",
    "((1))",
    "<<<x",
    "$'a'",
    '$"a"',
    "*",
    "?",
    "{a,b}",
    "~",
    "\r",
    "\0",
    "\u00a0",
    "\u200b",
    "\u202e",
    "\u2028",
    "\u{e0041}",
    "\ud800",
  ];

  test("at any place in an allowed command", async () => {
    const simple = judged("allow").filter((command) => /^[a-z ]+$/.test(command));
    await fc.assert(
      fc.asyncProperty(simple, fc.constantFrom(...POISON), fc.nat(40), async (command, bad, at) => {
        const cut = at % (command.length + 1);
        // Behind a letter or before one, a tilde is itself.
        if (bad === "~" && cut > 0 && command[cut - 1] !== " ") return;
        expect(await classify(command.slice(0, cut) + bad + command.slice(cut))).not.toBe("allow");
      }),
      { numRuns: 600 },
    );
  });

  test("in a here-document that expands or does not end", async () => {
    const line = fc.constantFrom("text", "$(rm x)", "`rm x`", "$HOME", "\\$x", "EOF ", " EOF");
    await fc.assert(
      fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 5 }), fc.boolean(), async (lines, ends) => {
        const verdict = await classify(`cat <<EOF\n${lines.join("\n")}${ends ? "\nEOF" : ""}`);
        const isPlain = ends && lines.every((each) => !/[$`\\]/.test(each));
        expect(verdict).toBe(isPlain ? "allow" : "ask");
      }),
    );
  });

  test("beyond 10,000 characters, whatever fills them", async () => {
    const fill = fc.constantFrom(" ", "a", "\n", "#", " x", ";ls", "\u00e9");
    await fc.assert(
      fc.asyncProperty(judged("allow"), fill, fc.boolean(), async (command, each, first) => {
        const filled = each.repeat(10_001);
        expect(await classify(first ? `${filled}${command}` : `${command}${filled}`)).not.toBe("allow");
      }),
      { numRuns: 50 },
    );
  });

  test("and always gets an answer", async () => {
    const piece = fc.oneof(
      judged("allow"),
      judged("ask").filter((command) => command.length < 200),
      fc.constantFrom(...JOINTS),
      fc.string({ unit: "binary" }),
      fc.constantFrom(..."'\"`$(){}[]<>|&;\\#~*?! \n"),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
        expect(["allow", "ask", "deny"]).toContain(await classify(pieces.join("")));
      }),
      { numRuns: 200 },
    );
  });
});

describe.each(["/bin/sh", "/bin/bash"])("%s", (shell) => {
  test.skipIf(!existsSync(shell))(
    "starts no program of an allowed command that a rule does not allow",
    async () => {
      const folder = temporaryFolder();
      const log = join(folder, "log");
      mkdirSync(join(folder, "bin"));
      for (const name of [
        "git",
        "ls",
        "cat",
        "npm",
        "wc",
        "rm",
        "curl",
        "touch",
        "make",
        "whoowns",
        "node",
        "env",
        "xargs",
      ]) {
        writeFileSync(join(folder, "bin", name), `#!/bin/sh\necho ${name} "$1" >> ${log}\n`);
        chmodSync(join(folder, "bin", name), 0o755);
      }
      const piece = fc.oneof(
        fc.constantFrom(...ALLOWED, ...DENIED, ...ASKED),
        fc.constantFrom(
          ...JOINTS,
          " ",
          "'",
          '"',
          "\\",
          "#",
          "(",
          ")",
          "{ ",
          "; }",
          "<<E\n",
          "\nE\n",
          "$",
          "`",
          ">out/x",
        ),
      );
      const ran = { count: 0 };
      await fc.assert(
        fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 7 }), async (pieces) => {
          const command = pieces.join("");
          if ((await classify(command)) !== "allow") return;
          writeFileSync(log, "");
          ran.count += 1;
          spawnSync(shell, ["-c", command], {
            cwd: folder,
            env: { PATH: join(folder, "bin") },
            timeout: 10_000,
          });
          const started = readFileSync(log, "utf8").split("\n").filter(Boolean);
          const allowed = /^(?:git status|ls .*|cat .*|npm test|wc .*)$/;
          expect(started.filter((each) => !allowed.test(each))).toEqual([]);
        }),
        { numRuns: 1_500 },
      );
      expect(ran.count).toBeGreaterThan(20);
    },
  );

  test.skipIf(!existsSync(shell))("passes on exactly the words that count as literal", () => {
    const folder = temporaryFolder();
    const piece = fc.constantFrom(
      ..."aab'\"\\ ;#$|&=~*?[]{}!^\n\t:,-%@+/é".split(""),
      "''",
      '""',
      "\\\n",
      "$a",
      "' '",
    );
    const compared = { count: 0 };
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 10 }), (pieces) => {
        const command = `printf '<%s>' x ${pieces.join("")}`;
        const parsed = parseShell(command);
        if (!parsed.ok || parsed.commands.length !== 1 || parsed.redirections.length > 0) return;
        const words = parsed.commands[0]!.words;
        if (!words.every(({ literal }) => literal)) return;
        compared.count += 1;
        const { stdout } = spawnSync(shell, ["-c", command], { cwd: folder, encoding: "utf8", env: {} });
        expect(stdout).toBe(
          words
            .slice(2)
            .map(({ text }) => `<${text}>`)
            .join(""),
        );
      }),
      { numRuns: 500 },
    );
    expect(compared.count).toBeGreaterThan(20);
  });
});
