import { accessSync, constants, existsSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { isProblem } from "../../base/problems/problem.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import type { ServerAddress, ServerProcess, ServerProgram } from "../../core/nouns/server-program.ts";
import { expandVariables, type LaunchVariables, readVariables } from "../../sources/mcp/config/to-launch.ts";
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

/** Finds what would keep a server from starting, without starting it. */
export function checkProgram({ label, runs }: ServerProgram, variables: LaunchVariables): Finding[] {
  const about = `server ${label}`;
  const texts = "url" in runs ? [runs.url, ...Object.values(runs.headers)] : textsOf(runs);
  return [
    ...missingVariables(about, label, texts, variables),
    ...texts.flatMap((text) => hiddenCharacters(about, text)),
    ...("url" in runs ? checkAddress(about, runs) : checkProcess(about, runs)),
  ];
}

function textsOf({ command, args, env, cwd }: ServerProcess): string[] {
  return [command, ...args, ...Object.values(env), cwd];
}

function missingVariables(
  about: string,
  label: string,
  texts: readonly string[],
  variables: LaunchVariables,
): Finding[] {
  const findings = new Map<string, Finding>();
  for (const text of texts) {
    try {
      expandVariables(label, text, variables);
    } catch (error) {
      if (!isProblem(error)) continue;
      const { reason, secret, variable } = error.details;
      findings.set(String(reason), missingVariable(about, String(reason), { secret, variable }));
    }
  }
  return [...findings.values()];
}

function missingVariable(
  about: string,
  reason: string,
  { secret, variable: name }: { readonly secret: unknown; readonly variable: unknown },
): Finding {
  if (secret) return problemWith(about, `the secret ${secret} is not set`, `keyhole secrets set ${secret}`);
  const fix = name
    ? `Set ${name} where the client starts, or write \${${name}:-default}, or \${secret:${name}} and keyhole secrets set ${name}`
    : "Correct it in the config.";
  return problemWith(about, reason, fix);
}

/** Pasted values often carry characters that nobody sees and every server refuses. */
function hiddenCharacters(about: string, text: string): Finding[] {
  const isHidden = text !== text.trim() || /[\u00a0\u200b-\u200f\u2028\u2029\ufeff\r\n\t]/.test(text);
  if (!isHidden) return [];
  const fix = "Type the value again in the config, without spaces around it.";
  return [warningOf(about, "a value has spaces or characters that do not show", fix)];
}

function checkAddress(about: string, { url }: ServerAddress): Finding[] {
  if (url.includes("${")) return [];
  const address = URL.parse(url.trim());
  if (!address)
    return [problemWith(about, "its url is no address", "Write it as https://host/path in the config.")];
  if (!/^https?:$/.test(address.protocol))
    return [
      problemWith(
        about,
        `its url begins with ${address.protocol}`,
        "Keyhole speaks to http and https addresses.",
      ),
    ];
  const isOwn = /^(?:localhost|127\.|\[::1\])/.test(address.hostname);
  if (address.protocol === "http:" && !isOwn)
    return [
      warningOf(
        about,
        "its url is not encrypted, so its keys can be read on the way",
        "Write https:// in the config.",
      ),
    ];
  return [];
}

function checkProcess(about: string, runs: ServerProcess): Finding[] {
  const { command, path, cwd, envFile, args } = runs;
  if (!existsSync(cwd))
    return [problemWith(about, `its folder ${cwd} does not exist`, "Correct cwd in the config.")];
  if (!statSync(cwd).isDirectory())
    return [problemWith(about, `its cwd ${cwd} is no folder`, "Correct cwd in the config.")];
  const unread = envFile === undefined ? [] : checkEnvFile(about, envFile);
  if (path === undefined && !command.includes("${")) return [...unread, withoutProgram(about, runs)];
  const script = args.find((word) =>
    /^(?:\.{0,2}\/|[A-Za-z]:\\).*\.[cm]?[jt]s$|^(?:\.{0,2}\/).*\.py$/.test(word),
  );
  if (script !== undefined && !existsSync(resolve(cwd, script)))
    return [
      ...unread,
      problemWith(about, `it runs ${script}, which does not exist`, "Correct args in the config."),
    ];
  return unread;
}

function checkEnvFile(about: string, path: string): Finding[] {
  try {
    readVariables(about, path);
    return [];
  } catch (error) {
    const cause = isProblem(error) ? String(error.details.reason) : reasonOf(error);
    return [problemWith(about, cause, "Correct the file, or take envFile out of the config.")];
  }
}

function withoutProgram(about: string, { command, cwd }: ServerProcess): Finding {
  const file = unstartable(command, cwd);
  if (file !== undefined)
    return problemWith(about, `${file} is there, but is no program that may run`, `chmod +x ${file}`);
  if (/\s/.test(command.trim()) && !isAbsolute(command))
    return problemWith(
      about,
      `its command ${JSON.stringify(command)} has spaces, so it names no program`,
      "Put the first word into command and the others into args.",
    );
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
