import { readdir, realpath, stat } from "node:fs/promises";
import { basename, isAbsolute, join, relative } from "node:path";
import { isProblem } from "../../../base/problems/problem.ts";
import { mapLimit } from "../../../base/util/map-limit.ts";
import { reasonOf } from "../../../base/util/reason-of.ts";
import type { RefusedSkill, Skill, SkillFile, SkillPlace } from "./skill.ts";
import { digestOf, listSkillFiles, MAX_SKILL_BYTES, readSkillFile, refused } from "./skill-files.ts";

const MAX_SKILLS = 2_000;
const MAX_ALL_FILES = 20_000;
const MAX_ALL_BYTES = 512 * 2 ** 20;
const FILES_AT_ONCE = 8;
const SKILLS_AT_ONCE = 4;
const MANIFEST = "SKILL.md";

/** The result of {@link readSkills}. */
export interface SkillsRead {
  readonly skills: readonly Skill[];
  readonly refused: readonly RefusedSkill[];
}

/**
 * Reads the skills of all places. Of several skills with one name the last place wins, and the others are reported.
 * Must not throw for any file content. See {@link skillDrafts}.
 * @example
 * ```ts
 * import { mkdir, writeFile } from "node:fs/promises";
 * import { readSkills } from "keyhole/sources";
 *
 * await mkdir("skills/review", { recursive: true });
 * const text = "---\nname: review\ndescription: Review a change.\n---\nRead the tests first.";
 * await writeFile("skills/review/SKILL.md", text);
 * const { skills } = await readSkills([{ origin: "project", folder: "skills" }]);
 * console.assert(skills[0]?.name === "review");
 * ```
 */
export async function readSkills(places: readonly SkillPlace[]): Promise<SkillsRead> {
  const refusals: RefusedSkill[] = [];
  const candidates = await Promise.all(places.map((place) => findCandidates(place, places, refusals)));
  // A link to a skill in another place adds no second skill.
  const byFolder = new Map<string, SkillCandidate>();
  for (const candidate of candidates.flat())
    if (!byFolder.has(candidate.folder) || basename(candidate.folder) === candidate.directory)
      byFolder.set(candidate.folder, candidate);
  const unique = [...byFolder.values()];
  const budget = { files: MAX_ALL_FILES, bytes: MAX_ALL_BYTES };
  const outcomes = await mapLimit(unique.slice(0, MAX_SKILLS), SKILLS_AT_ONCE, (one) =>
    readSkill(one, budget),
  );
  for (const { path } of unique.slice(MAX_SKILLS))
    refusals.push({ path, reason: `there are more than ${MAX_SKILLS} skills` });
  const byName = new Map<string, { skill: Skill; path: string }>();
  for (const { path, skill, refusal } of outcomes) {
    if (refusal) refusals.push(refusal);
    if (!skill) continue;
    const shadowed = byName.get(skill.name);
    if (shadowed) refusals.push({ path: shadowed.path, reason: `${path} has the same name and comes first` });
    byName.set(skill.name, { skill, path });
  }
  const skills = [...byName.values()].map(({ skill }) => skill);
  return { skills: skills.sort((one, other) => (one.name < other.name ? -1 : 1)), refused: refusals };
}

interface SkillCandidate {
  readonly path: string;
  readonly directory: string;
  /** Real path. */
  readonly folder: string;
  readonly place: SkillPlace;
}

async function findCandidates(
  place: SkillPlace,
  places: readonly SkillPlace[],
  refusals: RefusedSkill[],
): Promise<SkillCandidate[]> {
  const real = await realpath(place.folder).catch(() => undefined);
  if (real === undefined) return [];
  const root = await realpath(place.root ?? place.folder).catch(() => real);
  if (!isWithin(root, real)) {
    refusals.push({ path: place.folder, reason: "it is a link that leads out of where it belongs" });
    return [];
  }
  const allowed = [
    real,
    ...(await Promise.all(places.map(({ folder }) => realpath(folder).catch(() => real)))),
  ];
  const children = await readdir(real, { withFileTypes: true }).catch(() => []);
  const candidates: SkillCandidate[] = [];
  for (const child of children.sort((one, other) => (one.name < other.name ? -1 : 1))) {
    if (child.name.startsWith(".") || !(child.isDirectory() || child.isSymbolicLink())) continue;
    const path = join(place.folder, child.name);
    const folder = await realpath(join(real, child.name)).catch(() => undefined);
    if (folder === undefined || !(await stat(folder)).isDirectory()) continue;
    if (!allowed.some((one) => isWithin(one, folder) && one !== folder)) {
      refusals.push({ path, reason: "it is a link that leads out of the places of skills" });
      continue;
    }
    const names: string[] = await readdir(folder).catch(() => []);
    const manifest = names.find((name) => name.normalize("NFKC").toLowerCase() === "skill.md");
    if (names.includes(MANIFEST)) candidates.push({ path, directory: child.name, folder, place });
    else if (manifest !== undefined) {
      const reason = `its file is called ${JSON.stringify(manifest)} and must be called ${MANIFEST}`;
      refusals.push({ path, reason });
    }
  }
  return candidates;
}

/** Files and bytes that all skills together may still use. */
interface SkillBudget {
  files: number;
  bytes: number;
}

async function readSkill(
  candidate: SkillCandidate,
  budget: SkillBudget,
): Promise<{ path: string; skill?: Skill; refusal?: RefusedSkill }> {
  const { path, directory, folder, place } = candidate;
  try {
    // Loaded with the first skill: most starts need no YAML library.
    const { parseFrontMatter } = await import("../files/front-matter.ts");
    const { toSkillFields } = await import("./skill-fields.ts");
    const read = parseFrontMatter((await readSkillFile(folder, MANIFEST)).toString(), join(path, MANIFEST));
    const fields = toSkillFields(read, directory, join(path, MANIFEST));
    // Serves the repaired front matter, so that strict parsers read the same.
    const text = `---\n${read.yaml}---\n${read.body}`;
    const files = await describeFiles(folder, Buffer.from(text), budget);
    const { data: frontmatter, body } = read;
    return { path, skill: { ...fields, origin: place.origin, folder, text, body, frontmatter, files } };
  } catch (error) {
    const { line, reason } = isProblem(error) ? error.details : {};
    const refusal = {
      path: line === undefined ? path : join(path, MANIFEST),
      ...(typeof line === "number" && { line }),
      reason: typeof reason === "string" ? reason : reasonOf(error),
    };
    return { path, refusal };
  }
}

async function describeFiles(folder: string, manifest: Buffer, budget: SkillBudget): Promise<SkillFile[]> {
  const paths = await listSkillFiles(folder);
  budget.files -= paths.length;
  let total = 0;
  return mapLimit(paths, FILES_AT_ONCE, async (path) => {
    const bytes = path === MANIFEST ? manifest : await readSkillFile(folder, path);
    total += bytes.length;
    budget.bytes -= bytes.length;
    if (budget.files < 0 || budget.bytes < 0)
      throw refused("all skills together have too many files, or too large ones");
    if (total > MAX_SKILL_BYTES) throw refused(`its files are larger than ${MAX_SKILL_BYTES} bytes together`);
    return { path, size: bytes.length, digest: digestOf(bytes) };
  });
}

function isWithin(outer: string, inner: string): boolean {
  const way = relative(outer, inner);
  return way === "" || !(way === ".." || way.startsWith("../") || way.startsWith("..\\") || isAbsolute(way));
}
