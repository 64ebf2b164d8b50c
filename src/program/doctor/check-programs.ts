import { accessSync, constants, existsSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { isProblem, type Problem } from "../../base/problems/problem.ts";
import type {
  ServerAddress,
  ServerProcess,
  ServerProgram,
  ServerReading,
} from "../../core/nouns/server-program.ts";
import { expandVariables, type LaunchVariables, readVariables } from "../../sources/mcp/config/to-launch.ts";
import { missingPath } from "../../sources/servers/from-config.ts";
import { reasonWhy } from "../clients/edit-config.ts";
import { type Finding, problemWith, warningOf } from "./check-state.ts";

/** Programs that people often lack, and where they come from. */
const INSTALL: Readonly<Record<string, string>> = {
  npx: "Install Node: https://nodejs.org",
  node: "Install Node: https://nodejs.org",
  uvx: "Install uv: https://docs.astral.sh/uv",
  uv: "Install uv: https://docs.astral.sh/uv",
  python: "Install Python, or write python3",
  python3: "Install Python: https://www.python.org",
  docker: "Install Docker: https://docs.docker.com/get-docker",
  bunx: "Install Bun: https://bun.sh",
  deno: "Install Deno: https://deno.com",
};

const CORRECT_CWD = "Correct cwd in the config.";
/** An argument that names a script by its path. */
const SCRIPT = /^(?:\.{0,2}\/|[A-Za-z]:\\).*\.[cm]?[jt]s$|^(?:\.{0,2}\/).*\.py$/;

/** Finds what would keep a server from starting, without starting it. */
export function* checkProgram(
  { label, runs }: ServerProgram,
  variables: LaunchVariables,
): Generator<Finding> {
  const about = `server ${label}`;
  const texts = textsOf(runs);
  yield* missingVariables(about, label, texts, variables);
  for (const text of texts) {
    // Pasted values often carry characters that nobody sees and every server refuses.
    if (text === text.trim() && !/[\u00a0\u200b-\u200f\u2028\u2029\ufeff\r\n\t]/.test(text)) continue;
    const fix = "Type the value again in the config, without spaces around it.";
    yield warningOf(about, "a value has spaces or characters that do not show", fix);
  }
  if ("reads" in runs) yield* checkPaths(about, runs);
  else yield* "url" in runs ? checkAddress(about, runs) : checkProcess(about, runs);
}

function textsOf(runs: ServerProgram["runs"]): string[] {
  if ("reads" in runs) return Object.values(runs.reads);
  if ("url" in runs) return [runs.url, ...Object.values(runs.headers)];
  return [runs.command, ...runs.args, ...Object.values(runs.env), runs.cwd];
}

/** The folders and files that Keyhole reads itself. */
function* checkPaths(about: string, { reads }: ServerReading): Generator<Finding> {
  for (const [name, path] of Object.entries(reads)) {
    const isPath = /(?:^library|^openapi|\.root|\.account)$/.test(name) && isAbsolute(path);
    const cause = isPath ? missingPath(name, path) : undefined;
    if (cause !== undefined) yield problemWith(about, cause, `Correct ${name} in the config.`);
  }
}

function missingVariables(
  about: string,
  label: string,
  texts: readonly string[],
  variables: LaunchVariables,
): Iterable<Finding> {
  const findings = new Map<unknown, Finding>();
  for (const text of texts) {
    try {
      expandVariables(label, text, variables);
    } catch (error) {
      if (!isProblem(error)) continue;
      findings.set(error.details.reason, missingVariable(about, error.details));
    }
  }
  return findings.values();
}

function missingVariable(about: string, { reason, secret, variable: name }: Problem["details"]): Finding {
  if (secret) return problemWith(about, `the secret ${secret} is not set`, `keyhole secrets set ${secret}`);
  const fix = name
    ? `Set ${name} where the client starts, or write \${${name}:-default}, or \${secret:${name}} and keyhole secrets set ${name}`
    : "Correct it in the config.";
  return problemWith(about, String(reason), fix);
}

function* checkAddress(about: string, { url }: ServerAddress): Generator<Finding> {
  if (url.includes("${")) return;
  const address = URL.parse(url.trim());
  if (!address)
    return yield problemWith(about, "its url is no address", "Write it as https://host/path in the config.");
  const { protocol, hostname } = address;
  if (!/^https?:$/.test(protocol)) {
    const fix = "Keyhole speaks to http and https addresses.";
    return yield problemWith(about, `its url begins with ${protocol}`, fix);
  }
  const isOwn = /^(?:localhost|127\.|\[::1\])/.test(hostname);
  if (protocol === "https:" || isOwn) return;
  const cause = "its url is not encrypted, so its keys can be read on the way";
  yield warningOf(about, cause, "Write https:// in the config.");
}

function* checkProcess(about: string, runs: ServerProcess): Generator<Finding> {
  const { command, path, cwd, envFile, args } = runs;
  const folder = statSync(cwd, { throwIfNoEntry: false });
  if (!folder) return yield problemWith(about, `its folder ${cwd} does not exist`, CORRECT_CWD);
  if (!folder.isDirectory()) return yield problemWith(about, `its cwd ${cwd} is no folder`, CORRECT_CWD);
  if (envFile !== undefined) yield* checkEnvFile(about, envFile);
  if (path === undefined && !command.includes("${")) return yield withoutProgram(about, runs);
  const script = args.find((word) => SCRIPT.test(word));
  if (script !== undefined && !existsSync(resolve(cwd, script)))
    yield problemWith(about, `it runs ${script}, which does not exist`, "Correct args in the config.");
}

function* checkEnvFile(about: string, path: string): Generator<Finding> {
  try {
    readVariables(about, path);
  } catch (error) {
    yield problemWith(about, reasonWhy(error), "Correct the file, or take envFile out of the config.");
  }
}

function withoutProgram(about: string, { command, cwd }: ServerProcess): Finding {
  const file = unstartable(command, cwd);
  if (file !== undefined)
    return problemWith(about, `${file} is there, but is no program that may run`, `chmod +x ${file}`);
  if (/\s/.test(command.trim()) && !isAbsolute(command)) {
    const cause = `its command ${JSON.stringify(command)} has spaces, so it names no program`;
    return problemWith(about, cause, "Put the first word into command and the others into args.");
  }
  const fix = INSTALL[command] ?? "Install it, or write its absolute path as command.";
  return problemWith(about, `its program ${command} is not on the PATH`, fix);
}

/** A file of the command's name that cannot be executed. */
function unstartable(command: string, cwd: string): string | undefined {
  const places = /[\\/]/.test(command)
    ? [resolve(cwd, command)]
    : (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, command));
  return places.find((path) => {
    const facts = statSync(path, { throwIfNoEntry: false });
    if (!facts?.isFile()) return false;
    try {
      accessSync(path, constants.X_OK);
      return false;
    } catch {
      return true;
    }
  });
}
