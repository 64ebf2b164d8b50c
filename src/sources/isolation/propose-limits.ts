import { homedir } from "node:os";
import { basename, join } from "node:path";
import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { fieldsOf } from "../../base/util/plain-object.ts";
import type { Touched } from "../../core/access/accepted-limits.ts";
import { scriptOf } from "../../core/access/consents.ts";
import type { SandboxLimits } from "../../core/nouns/server-program.ts";
import { pathsIn } from "./isolation.ts";
import { type IsolatedProgram, type Isolation, writtenPaths } from "./mounts.ts";
import { PRIVATE_PLACES } from "./places.ts";

/** A server's process with its limits. */
export interface IsolatedServer {
  readonly program: IsolatedProgram;
  readonly isolation: Isolation;
  /** The arguments and variables that its config sets, filled in. */
  readonly texts: readonly string[];
}

/** Says in lines for a person what an isolated process reads, writes and reaches. */
export function showLimits({ program, isolation }: Omit<IsolatedServer, "texts">): string[] {
  const home = program.env.HOME ?? homedir();
  const short = (path: string) =>
    toVisibleLine(path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path);
  const written = writtenPaths(program, isolation);
  const { network } = isolation;
  return [
    "reads    your files, but no keys, logins, browsers, mail and settings of other programs",
    `writes   ${written.map(short).join(", ") || "nothing"}`,
    `reaches  ${typeof network === "object" ? `${network.map(toVisibleLine).join(", ")} alone` : network === "all" ? "every host" : "no host"}`,
  ];
}

/**
 * Proposes limits from what a server asked for, names in its config and says of its tools. The network stays open
 * unless something speaks for less: a listing seldom shows every host that a call needs.
 */
export function proposeLimits(
  server: IsolatedServer,
  tools: readonly Readonly<Record<string, unknown>>[],
  touched: Touched,
): SandboxLimits & { readonly why: string } {
  const { program, texts } = server;
  const home = program.env.HOME ?? homedir();
  const isPrivate = (path: string) =>
    PRIVATE_PLACES.some((place) => `${path}/`.startsWith(`${join(home, place)}/`));
  const script = scriptOf(program) ?? "";
  const wanted = [...touched.paths, ...pathsIn(script.split(/[\s"'`;|&<>()]+/), program.cwd, home)];
  const folders = [...new Set(wanted)].filter((path) => !isPrivate(path) && path !== home);
  const { network, why } = proposeNetwork(program, texts, tools, touched.hosts);
  return { ...(folders.length > 0 && { folders }), network, why };
}

/** Programs that fetch packages before they start a server, so that their hosts say nothing about it. */
const LAUNCHER = /^(?:npm|npx|pnpm|pnpx|yarn|bunx?|uvx?|pipx|deno)$/;
const ADDRESS = /^(?:urls?|uris?|href|link|website|domain|host(?:name)?|endpoint|address)$/i;
const URLS = /\b([a-z][a-z0-9+.-]*):\/\/(?:[^/\s@]*@)?(\[[^\]\s]*\]|[^/\s:?#,]+)(:\d+)?/gi;
const THIS_MACHINE = /^(?:localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0)$/i;

function proposeNetwork(
  { command }: IsolatedProgram,
  texts: readonly string[],
  tools: readonly Readonly<Record<string, unknown>>[],
  asked: readonly string[],
): { readonly network: NonNullable<SandboxLimits["network"]>; readonly why: string } {
  const urls = texts.flatMap((text) => [...text.matchAll(URLS)]).filter(([, scheme]) => scheme !== "file");
  const direct = urls.find(
    ([, scheme = "", host = ""]) => !/^(?:http|ws)s?$/i.test(scheme) || THIS_MACHINE.test(host),
  );
  if (direct)
    return { network: "all", why: `its config names ${direct[1]}://${direct[2]}, which no proxy reaches` };
  const browser = tools.find(({ inputSchema }) =>
    Object.keys(fieldsOf(fieldsOf(inputSchema).properties)).some((name) => ADDRESS.test(name)),
  );
  if (browser) return { network: "all", why: `${String(browser.name)} takes addresses` };
  const named = urls.map(([, , host = "", port = ""]) => `${host}${port}`.toLowerCase());
  if (named.length > 0 || (asked.length > 0 && !LAUNCHER.test(basename(command)))) {
    const network = [...new Set([...named, ...asked])];
    return { network, why: "its config names these hosts, or it asked for them" };
  }
  const isClosed = tools.every(({ annotations }) => fieldsOf(annotations).openWorldHint === false);
  if (tools.length > 0 && isClosed)
    return { network: "none", why: "it says of each tool that it reaches nobody" };
  return { network: "all", why: "nothing says which hosts its calls need" };
}

const DENIED = [
  /(?:EROFS|EACCES|EPERM|\[Errno (?:13|30)\])[^'"\n]*['"](\/[^'"\n]+)['"]/g,
  /['‘"]?(\/[^'’"\n:]+)['’"]?: (?:Read-only file system|Permission denied)/g,
];

/** Finds a path that a server complains about and that its limits keep it from writing. */
export function deniedWrite(output: string, isolated: () => IsolatedServer | undefined): string | undefined {
  const paths = deniedPaths(output);
  // Planning the mounts reads many folders, and few errors name a path.
  const server = paths.length > 0 ? isolated() : undefined;
  if (!server) return undefined;
  const written = writtenPaths(server.program, server.isolation);
  return paths.find((denied) => !written.some((path) => `${denied}/`.startsWith(`${path}/`)));
}

/** The paths that a program complains about because the sandbox keeps it from writing them. */
export function deniedPaths(output: string): string[] {
  return DENIED.flatMap((pattern) => [...output.matchAll(pattern)].map(([, path = ""]) => path));
}
