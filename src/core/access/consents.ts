import { homedir } from "node:os";
import { hideInAddress, hideInCommand, hideInField } from "../../base/safety/secret-values.ts";
import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { toPlainText } from "../nouns/plain-text.ts";
import { CODE_FILE, type ServerProcess, type ServerProgram, TEXT_FILE } from "../nouns/server-program.ts";
import { type Grants, revoked } from "./grants.ts";

/** Consents to start servers, each bound to the hash of everything that runs. Files answer at once, databases later. */
export interface Consents<Given extends boolean | Promise<boolean> = boolean> {
  /** Reads the store, so that changes by other processes count. */
  isGiven(program: ServerProgram): Given;
  give(programs: readonly ServerProgram[], by?: string): Promise<void>;
  /** Revokes consents. Resolves to their number. */
  revoke(programs: readonly ServerProgram[]): Promise<number>;
}

/** The consents among the grants. `Given` is `boolean` if their storage answers at once. */
export function createConsents<Given extends boolean | Promise<boolean> = boolean>(
  grants: Grants<"program">,
): Consents<Given> {
  return {
    isGiven: ({ hash }) => {
      const isThere = () => grants.get(hash) !== undefined;
      const reading = grants.refresh();
      return (reading instanceof Promise ? reading.then(isThere) : isThere()) as Given;
    },
    give: async (programs) => {
      const givenAt = Date.now();
      await grants.change(new Map(programs.map(({ hash, label }) => [hash, { givenAt, label }])));
    },
    revoke: (programs) => grants.change(revoked(programs.map(({ hash }) => hash))),
  };
}

const HIDDEN_PATHS =
  'note     the sandbox does not see which files this script writes; name them: "sandbox": { "folders": ["PATH"] }';
const VARIABLE = /\$\{[^{}]*\}/g;

/**
 * Describes what a server runs or reaches, in whole lines for the person who decides. Terminal, chat and console show
 * the same text: nothing is cut, invisible characters are spelt out, secrets are hidden.
 */
export function showProgram({ runs }: ServerProgram): string[] {
  if ("url" in runs) {
    const login = texts(runs.oauth);
    const host = /^[^/?#]*\/\/(?:[^/?#]*@)?([^/?#]+)/.exec(runs.url)?.[1] ?? "it";
    return [
      `reaches  ${toVisibleLine(hideInAddress(runs.url))}`,
      ...fields("header", runs.headers),
      ...fields("login", login),
      `acts as  ${ACTS_AS[runs.login ?? "shared"]}`,
      ...sent([runs.url, ...Object.values({ ...runs.headers, ...login })], toVisibleLine(host)),
    ];
  }
  if ("reads" in runs)
    return [...fields("reads", runs.reads), ...sent(Object.values(runs.reads), "where it reads")];
  return [
    `runs     ${hideInCommand([runs.command, ...runs.args])
      .map(quoted)
      .join(" ")}`,
    `program  ${runs.path === undefined ? "not found" : toVisibleLine(runs.path)}`,
    `in       ${toVisibleLine(runs.cwd)}`,
    ...fields("variable", runs.env),
    ...(runs.envFile === undefined ? [] : [`and all  variables of ${toVisibleLine(runs.envFile)}`]),
    ...showSandbox(runs),
    ...sent([...runs.args, ...Object.values(runs.env)], "the program"),
  ];
}

/** The login that a server over HTTP gets. */
const ACTS_AS = {
  shared: "one login, which all who use this gateway share",
  person: "each person, who logs in there",
  exchange: "each person, by a token that their issuer exchanges",
};

/** The script within the command line of a shell. The sandbox cannot tell which paths it uses. */
export function scriptOf({ command, args }: Pick<ServerProcess, "command" | "args">): string | undefined {
  const isShell = /(?:^|\/)(?:ba|da|z|k|fi)?sh$/.test(command);
  const at = isShell ? args.findIndex((word) => /^-\w*c$/.test(word)) : -1;
  return at < 0 ? undefined : args[at + 1];
}

/** Only the limits that the config changes. */
function showSandbox(runs: ServerProcess): string[] {
  const { sandbox, container } = runs;
  if (container !== undefined)
    return [`inside   the container ${toVisibleLine(container)}: its files, and the mounted folders`];
  if (sandbox === false) return ["sandbox  none: it sees and reaches everything that you can"];
  const { folders = [], network } = sandbox ?? {};
  return [
    ...(sandbox === undefined && scriptOf(runs) !== undefined ? [HIDDEN_PATHS] : []),
    ...(HOMES.some((home) => folders.includes(home)) ? [] : filesInHome(runs)),
    ...folders.map((folder) => `may use  ${toVisibleLine(folder)}`),
    ...(network === "none" ? ["sandbox  without network"] : []),
    ...(typeof network === "object" ? [`reaches  ${network.map(toVisibleLine).join(", ")} alone`] : []),
  ];
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: these are variables of configs.
const HOMES = ["~", "${HOME}", "${env:HOME}", homedir()];

/** Notes on named files that lie directly in the home, which stays closed: programs replace files by renaming. */
function filesInHome({ args, env }: ServerProcess): string[] {
  const shown = Object.entries(env).filter(([name, value]) => hideInField(name, value) === value);
  return [...args, ...shown.map(([, value]) => value)].flatMap((text) => {
    const path = /^-[^=/]*=(.*)$/s.exec(text)?.[1] ?? text;
    const home = HOMES.find((folder) => path.startsWith(`${folder}/`)) ?? path;
    const [, name, stem] = /^\/(([^/]+)\.[^./]+)$/.exec(path.slice(home.length)) ?? [];
    if (name === undefined || CODE_FILE.test(name) || TEXT_FILE.test(name)) return [];
    const better = toVisibleLine(`${home}/${stem}/${name}`);
    return [
      `note     ${toVisibleLine(path)} has no folder of its own, so in the sandbox the server cannot replace it; ${better} works, if that folder is there`,
    ];
  });
}

/** Unquoted only if it can be read in one way. */
function quoted(word: string): string {
  return /^[\w./:=@%+,()-]+$/.test(word) ? word : `"${toVisibleLine(word).replaceAll('"', '\\"')}"`;
}

function fields(kind: string, values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).map(
    ([name, value]) => `${kind.padEnd(8)} ${toVisibleLine(name)}=${quoted(hideInField(name, value))}`,
  );
}

function texts(values: Readonly<Record<string, unknown>> = {}): Record<string, string> {
  const entries = Object.entries(values).map(([name, value]) => [name, toPlainText(value)]);
  return Object.fromEntries(entries);
}

/** Names the variables whose values are sent. */
function sent(texts: readonly string[], to: string): string[] {
  const names = new Set(texts.flatMap((text) => text.match(VARIABLE) ?? []));
  return names.size === 0 ? [] : [`sends    ${[...names].map(toVisibleLine).join(", ")} of yours to ${to}`];
}
