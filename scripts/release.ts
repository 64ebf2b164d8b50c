// npm run release -- patch|minor|major|X.Y.Z [--apply]: makes a release. Without --apply it changes nothing and prints
// what it would do; the checks and the build run either way.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

const USAGE = "Usage: npm run release -- patch|minor|major|X.Y.Z [--apply]";
const PARTS = ["major", "minor", "patch"];

const [wanted = "", ...flags] = process.argv.slice(2);
const isApplied = flags.includes("--apply");
const manifest = JSON.parse(readFileSync("package.json", "utf8"));
const version = nextVersion(manifest.version, wanted);
const changelog = readFileSync("CHANGELOG.md", "utf8");
const changes = /^## Unreleased\n+([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(changelog)?.[1]?.trim() ?? "";
if (version === undefined) stop(USAGE);
if (changes === "") stop('CHANGELOG.md has nothing under "Unreleased": write there what changed for users.');
if (output("git", ["status", "--porcelain"]) !== "") stop("Commit or remove your changes first.");
if (output("git", ["branch", "--show-current"]) !== "main") stop("Releases are made from the branch main.");

run("npm", ["run", "check"]);
console.log(`\nVersion ${manifest.version} → ${version}, with these changes:\n\n${changes}\n`);
run("npm", ["pack", "--dry-run", "./dist"]);
if (!isApplied) {
  console.log(
    "\nNothing was changed. --apply writes the version and the changelog, commits, and sets the tag.",
  );
  process.exit();
}

const today = new Date().toISOString().slice(0, 10);
writeFileSync(
  "CHANGELOG.md",
  changelog.replace("## Unreleased\n", `## Unreleased\n\n## ${version} (${today})\n`),
);
run("npm", ["version", version!, "--no-git-tag-version"]);
run("npm", ["run", "build"]);
run("git", ["commit", "--all", "--message", `Release ${version}`]);
run("git", ["tag", "--annotate", `v${version}`, "--message", `Keyhole ${version}`]);
console.log(`\nNext: git push --follow-tags && npm publish ./dist --access public`);

function nextVersion(current: string, choice: string): string | undefined {
  if (/^\d+\.\d+\.\d+$/.test(choice)) return choice;
  const part = PARTS.indexOf(choice);
  if (part < 0) return undefined;
  return current
    .split(".")
    .map((digits, position) => (position < part ? digits : position === part ? Number(digits) + 1 : 0))
    .join(".");
}

function output(command: string, args: readonly string[]): string {
  return spawnSync(command, args, { encoding: "utf8" }).stdout.trim();
}

function run(command: string, args: readonly string[]): void {
  const { status } = spawnSync(command, args, { stdio: "inherit" });
  if (status !== 0) stop(`${command} ${args.join(" ")} failed.`);
}

function stop(sentence: string): never {
  console.error(sentence);
  process.exit(1);
}
