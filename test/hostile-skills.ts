import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeSkill } from "./skill-folder.ts";
import { temporaryFolder } from "./temporary-folder.ts";

export const SECRET = "-----BEGIN PRIVATE KEY-----";

interface Ground {
  /** The place that is read. */
  readonly place: string;
  /** A folder beside it with a file `id_rsa` that nobody may see. */
  readonly outside: string;
}

export function ground(): Ground {
  const root = temporaryFolder();
  const place = join(root, "skills");
  const outside = join(root, ".ssh");
  mkdirSync(place);
  mkdirSync(outside);
  writeFileSync(join(outside, "id_rsa"), SECRET);
  return { place, outside };
}

const bomb = () => {
  const lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x]"];
  for (let i = 1; i < 10; i += 1)
    lines.push(`a${i}: &a${i} [${Array.from({ length: 9 }, () => `*a${i - 1}`)}]`);
  return lines.join("\n");
};
const manifest = (name: string, description = "Helps.") =>
  `---\nname: ${name}\ndescription: ${description}\n---\nx`;

/** Builders of skills that are refused whole, with what the report has to say. */
export const REFUSED: readonly [string, (ground: Ground) => void, RegExp][] = [
  [
    "a link to a file outside",
    ({ place, outside }) => symlinkSync(join(outside, "id_rsa"), join(writeSkill(place, "evil"), "notes.md")),
    /notes\.md is a link/,
  ],
  [
    "a hard link to a file outside",
    ({ place, outside }) => linkSync(join(outside, "id_rsa"), join(writeSkill(place, "evil"), "notes.md")),
    /notes\.md is a hard link/,
  ],
  [
    "a link with .. to a folder outside",
    ({ place }) => symlinkSync("../../.ssh", join(writeSkill(place, "evil"), "references")),
    /references is a link/,
  ],
  [
    "a link to nothing",
    ({ place }) => symlinkSync("nowhere", join(writeSkill(place, "evil"), "x.md")),
    /x\.md is a link/,
  ],
  [
    "a link to itself",
    ({ place }) => symlinkSync(".", join(writeSkill(place, "evil"), "loop")),
    /loop is a link/,
  ],
  [
    "a SKILL.md that is a link",
    ({ place, outside }) => {
      writeFileSync(join(outside, "real.md"), manifest("evil", SECRET));
      mkdirSync(join(place, "evil"));
      symlinkSync(join(outside, "real.md"), join(place, "evil", "SKILL.md"));
    },
    /SKILL\.md cannot be opened/,
  ],
  [
    "a skill folder that is a link out of the place",
    ({ place, outside }) => {
      writeSkill(outside, "evil", { body: SECRET });
      symlinkSync(join(outside, "evil"), join(place, "evil"));
    },
    /leads out of the places/,
  ],
  [
    "a SKILL.md that is a folder",
    ({ place }) => mkdirSync(join(place, "evil", "SKILL.md"), { recursive: true }),
    /SKILL\.md (cannot be opened|is no plain file)/,
  ],
  [
    "a pipe",
    ({ place }) => execFileSync("mkfifo", [join(writeSkill(place, "evil"), "pipe")]),
    /pipe is no plain file/,
  ],
  [
    "a SKILL.md that is a pipe",
    ({ place }) => {
      mkdirSync(join(place, "evil"));
      execFileSync("mkfifo", [join(place, "evil", "SKILL.md")]);
    },
    /SKILL\.md is no plain file/,
  ],
  [
    "names that differ in case",
    ({ place }) => writeSkill(place, "evil", { files: { "Guide.md": "a", "guide.md": "b" } }),
    /taken for one another/,
  ],
  [
    "names that differ in normal form",
    ({ place }) => writeSkill(place, "evil", { files: { "caf\u00e9.md": "a", "cafe\u0301.md": "b" } }),
    /taken for one another/,
  ],
  [
    "names with a look-alike of compatibility",
    ({ place }) => writeSkill(place, "evil", { files: { "ref\uFF0Emd": "a", "ref.md": "b" } }),
    /taken for one another/,
  ],
  [
    "a path that spells another one's op",
    ({ place }) => writeSkill(place, "evil", { files: { "a/b.md": "a", "a.b.md": "b" } }),
    /taken for one another/,
  ],
  [
    "a name with a bidi override",
    ({ place }) => writeSkill(place, "evil", { files: { "exe\u202Edm.py": "a" } }),
    /cannot be seen/,
  ],
  [
    "a name with a backslash",
    ({ place }) => writeSkill(place, "evil", { files: { "sub\\..\\x": "a" } }),
    /cannot be seen or told/,
  ],
  [
    "a name with a line end",
    ({ place }) => writeSkill(place, "evil", { files: { "a\nb.md": "a" } }),
    /cannot be seen/,
  ],
  [
    "a file of 16 MiB",
    ({ place }) => writeSkill(place, "evil", { files: { big: Buffer.alloc(16 * 2 ** 20) } }),
    /big is larger than/,
  ],
  [
    "more than 16 MiB in all",
    ({ place }) =>
      writeSkill(place, "evil", {
        files: Object.fromEntries(
          Array.from({ length: 5 }, (_, i) => [`f${i}`, Buffer.alloc(3.5 * 2 ** 20)]),
        ),
      }),
    /larger than 16777216 bytes together/,
  ],
  [
    "513 files",
    ({ place }) =>
      writeSkill(place, "evil", {
        files: Object.fromEntries(Array.from({ length: 512 }, (_, i) => [`f${i}`, ""])),
      }),
    /more than 512 files/,
  ],
  [
    "folders without end",
    ({ place }) => writeSkill(place, "evil", { files: { [`${"d/".repeat(40)}x`]: "" } }),
    /nested more than 8/,
  ],
  [
    "a path that no route can hold",
    ({ place }) => writeSkill(place, "evil", { files: { [`${"é".repeat(100)}.md`]: "" } }),
    /too long/,
  ],
  [
    "a SKILL.md larger than a file may be",
    ({ place }) => writeSkill(place, "evil", { body: "x".repeat(5 * 2 ** 20) }),
    /SKILL\.md is larger/,
  ],
  [
    "a name with a slash",
    ({ place }) => writeSkill(place, "evil", { manifest: manifest("../../etc/evil") }),
    /name has other characters/,
  ],
  [
    "a name that is another's",
    ({ place }) => writeSkill(place, "evil", { manifest: manifest("trusted-skill") }),
    /name is trusted-skill, and its folder is called evil/,
  ],
  [
    "a name in capitals",
    ({ place }) => writeSkill(place, "EVIL", { manifest: manifest("EVIL") }),
    /name has other characters/,
  ],
  [
    "a name with look-alike letters",
    ({ place }) => writeSkill(place, "\u0435vil", { manifest: manifest("\u0435vil") }),
    /name has other characters/,
  ],
  [
    "a name of the language",
    ({ place }) => writeSkill(place, "__proto__", { manifest: manifest("__proto__") }),
    /name has other characters/,
  ],
  [
    "a name that is too long",
    ({ place }) => writeSkill(place, "x".repeat(65), { manifest: manifest("x".repeat(65)) }),
    /longer than 64/,
  ],
  [
    "a description that is too long",
    ({ place }) => writeSkill(place, "evil", { manifest: manifest("evil", "x".repeat(1_025)) }),
    /description is longer than 1024/,
  ],
  [
    "a description that is a list",
    ({ place }) => writeSkill(place, "evil", { manifest: "---\nname: evil\ndescription: [a]\n---\n" }),
    /description is not text/,
  ],
  ["a YAML bomb", ({ place }) => writeSkill(place, "evil", { fields: bomb() }), /more than/],
  [
    "a YAML loop",
    ({ place }) => writeSkill(place, "evil", { fields: "metadata: &m\n  again: *m" }),
    /nested more than|alias/,
  ],
  [
    "a tag that runs code elsewhere",
    ({ place }) =>
      writeSkill(place, "evil", { fields: "metadata: !!js/function 'function () { return process.env }'" }),
    /unresolved tag/,
  ],
  [
    "huge front matter",
    ({ place }) => writeSkill(place, "evil", { fields: `x: ${"y".repeat(70_000)}` }),
    /longer than 65536/,
  ],
  [
    "front matter without end",
    ({ place }) => writeSkill(place, "evil", { manifest: "---\nname: evil\ndescription: x\n" }),
    /not closed/,
  ],
  ["no front matter", ({ place }) => writeSkill(place, "evil", { manifest: "# Evil\n" }), /name is missing/],
  [
    "a pattern with a back-reference",
    ({ place }) => writeSkill(place, "evil", { fields: "triggers:\n  patterns: ['(a+)\\1']" }),
    /linear time/,
  ],
  [
    "a pattern with look-ahead",
    ({ place }) => writeSkill(place, "evil", { fields: "triggers:\n  patterns: ['(?=a)b']" }),
    /linear time/,
  ],
  [
    "a pattern that grows when compiled",
    ({ place }) => writeSkill(place, "evil", { fields: "triggers:\n  patterns: ['((a{100}){100}){100}']" }),
    /linear time|too large/,
  ],
  [
    "a thousand keywords",
    ({ place }) =>
      writeSkill(place, "evil", {
        fields: `triggers:\n  keywords: [${Array.from({ length: 1_000 }, (_, i) => `k${i}`)}]`,
      }),
    /more than 100/,
  ],
  [
    "a toolset outside",
    ({ place }) => writeSkill(place, "evil", { fields: "toolsets: ['../../../evil:Tool']" }),
    /not path:Class/,
  ],
  [
    "a SKILL.md in another case",
    ({ place }) => {
      mkdirSync(join(place, "evil"));
      writeFileSync(join(place, "evil", "skill.md"), manifest("evil"));
    },
    /must be called SKILL\.md/,
  ],
];
