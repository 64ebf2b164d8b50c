// node bench/skills/inside.ts JSON: starts a client once with skills in its own folder, and behind Keyhole if asked, in a
// network and process namespace of its own. Writes the requests to the model. Only `bench/skills.ts` starts it.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { findClient } from "../../lab/clients.ts";
import { CLIENTS } from "../../src/program/clients/clients.ts";
import { serveScriptedModel } from "../../src/testing/serve-scripted-model.ts";
import { benchSkills, writeSkills } from "./skill-set.ts";

/** One start of a client. */
export interface SkillsAssignment {
  readonly client: string;
  readonly count: number;
  readonly isBehind: boolean;
  /** An empty folder for everything that the run writes. */
  readonly folder: string;
  /** The folder into which the client is installed. */
  readonly installed: string;
}

const DEADLINE_MS = 90_000;
const {
  client: name,
  count,
  isBehind,
  folder,
  installed,
} = JSON.parse(process.argv[2] ?? "{}") as SkillsAssignment;
const client = findClient(name)!;
const [home, project] = [join(folder, "home"), join(folder, "project")];
for (const path of [home, project]) mkdirSync(path, { recursive: true });
const [place = ""] = CLIENTS.find((one) => one.name === name)?.skills?.folders ?? [];
writeSkills(join(home, place), benchSkills(count));

const model = await serveScriptedModel(() => ({ text: "Done." }));
const {
  args,
  env = {},
  files = {},
} = client.launch({
  home,
  project,
  installed,
  model: model.url,
  prompt: "Say done.",
});
for (const [path, text] of Object.entries({ ...files, ...client.allowing?.(["keyhole"]) })) {
  mkdirSync(dirname(resolve(home, path)), { recursive: true });
  writeFileSync(resolve(home, path), text);
}
const variables = {
  HOME: home,
  PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
  TERM: "dumb",
  LANG: "C.UTF-8",
  ...env,
};
const keyhole = (...given: string[]) =>
  spawnSync(process.execPath, [resolve("dist/program/main.js"), ...given], {
    cwd: project,
    env: variables,
    encoding: "utf8",
  }).stdout;
if (isBehind) keyhole("connect", name, "--skills", "--yes");
const child = spawn(join(installed, "node_modules", ".bin", client.bin), args, {
  cwd: project,
  env: variables,
  stdio: "ignore",
});
const timer = setTimeout(() => child.kill("SIGKILL"), DEADLINE_MS);
await once(child, "exit");
clearTimeout(timer);
if (isBehind) keyhole("serve", "--stop");
writeFileSync(join(folder, "requests.json"), JSON.stringify(model.requests.map(({ body }) => body)));
await model.close();
process.exit(0);
