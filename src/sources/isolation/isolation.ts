import { type ChildProcess, execFile } from "node:child_process";
import { once } from "node:events";
import { existsSync, readlinkSync } from "node:fs";
import { type AddressInfo, Server } from "node:net";
import { join, resolve } from "node:path";
import { lazy } from "../../base/util/lazy.ts";
import { holdFiles } from "./held-files.ts";
import { type IsolatedProgram, type Isolation, type MountedPath, planMounts } from "./mounts.ts";

/** Only the system's own folders count: a program of that name on somebody's PATH could be anything. */
const FOLDERS = ["/usr/bin", "/usr/local/bin", "/bin", "/run/current-system/sw/bin"];
const PROBE_MS = 5_000;
const ROOT_MAY = ["CAP_DAC_OVERRIDE", "CAP_CHOWN", "CAP_FOWNER"];

/** Says once for each process why programs cannot be isolated on this machine. Undefined if they can. */
export const isolationFault: () => Promise<string | undefined> = lazy(async () => {
  if (process.platform !== "linux") return `no sandbox is known for ${process.platform}`;
  const program = findSystemProgram("bwrap");
  if (program === undefined) return "bubblewrap (bwrap) is not installed";
  const args = [...toArguments([{ path: "/", access: "read" }], "none"), "--", "/bin/sh", "-c", ":"];
  return new Promise((settle) => {
    execFile(program, args, { timeout: PROBE_MS }, (error, _, stderr) =>
      settle(error ? `bubblewrap fails: ${stderr.trim() || error.message}` : undefined),
    );
  });
});

/** A command line with everything that starting it needs. */
export interface IsolatedCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Variables to add to those of the program. */
  readonly env: Readonly<Record<string, string>>;
  /** Channels to open after stdin, stdout and stderr. */
  readonly channels: readonly "ipc"[];
  /** To be called with the process as soon as it is started. */
  attach(child: ChildProcess): void;
}

/** The command line that runs a program within its limits. Undefined if this machine cannot isolate it. */
export async function isolate(
  program: IsolatedProgram,
  isolation: Isolation,
): Promise<IsolatedCommand | undefined> {
  if ((await isolationFault()) !== undefined) return undefined;
  const { command, args, cwd } = program;
  const { network } = isolation;
  const mounts = planMounts(program, isolation);
  const isListed = typeof network === "object";
  const words = [...(isListed ? opener() : []), command, ...args];
  const way = isListed ? await reachListed(network, isolation) : await watchHosts(program, isolation);
  const held = new Map(
    mounts.flatMap(({ path, held }) =>
      held ? [[path, holdFiles(held.place, path, held.names)] as const] : [],
    ),
  );
  const limits = toArguments(
    mounts.map((mount) => ({ ...mount, source: held.get(mount.path)?.path })),
    network,
  );
  return {
    ...way,
    command: findSystemProgram("bwrap")!,
    args: [...limits, "--chdir", cwd, "--", ...words],
    attach: (child) => {
      way.attach(child);
      const end = () => {
        for (const files of held.values()) files.close();
      };
      // Not `close`: it never comes where the channel was used.
      child.once("exit", end).once("error", end);
    },
  };
}

type Way = Omit<IsolatedCommand, "command" | "args">;

/** The port in the process's own network on which it finds the proxy. */
const PROXY_PORT = 38_123;
const MOST_CONNECTIONS = 256;
/** The number of the system call `sendmsg`, which Perl has no function for. */
const SENDMSG: Partial<Record<string, number>> = { x64: 46, arm64: 211 };
/** The message by which Node's channel hands over a listening socket. */
const HAND_OVER = JSON.stringify({ cmd: "NODE_HANDLE", type: "net.Server", msg: 0 });
/**
 * Opens a listening socket in the network of the sandbox, hands it to Keyhole, which accepts connections on it from
 * outside, and becomes the program, without the channel. No relay stays in the sandbox. Perl starts in a twentieth of
 * Node's time (`bench sandbox`).
 */
const LISTEN_THEN_RUN_PERL = [
  "my ($sendmsg, $text) = (shift() + 0, shift() . qq(\n))",
  "socket(my $socket, 2, 1, 0) or die",
  `bind($socket, pack('S n C4 x8', 2, ${PROXY_PORT}, 127, 0, 0, 1)) && listen($socket, 511) or die`,
  "my $part = pack('P Q', $text, length $text)",
  "my $right = pack('Q l l l x4', 20, 1, 1, fileno $socket)",
  "syscall($sendmsg, 3, pack('x16 P Q P Q x8', $part, 1, $right, length $right), 0) > 0 or die",
  "close $socket",
  "open(my $channel, '<&=', 3) && close $channel",
  "delete @ENV{'NODE_CHANNEL_FD', 'NODE_CHANNEL_SERIALIZATION_MODE', 'PERL_BADLANG'}",
  "exec {$ARGV[0]} @ARGV or die",
].join("; ");
const LISTEN_THEN_RUN_NODE = [
  // Without the variable Node does not load what it needs for a proxy.
  `NODE_USE_ENV_PROXY= "$0" -e 'const s=require("net").createServer().listen(${PROXY_PORT},"127.0.0.1",()=>process.send(0,s,()=>process.exit()))'`,
  "unset NODE_CHANNEL_FD NODE_CHANNEL_SERIALIZATION_MODE PERL_BADLANG",
  "exec 3>&-",
  'exec "$@"',
].join(" && ");

/** The words before a program that open its way to the proxy. */
function opener(): string[] {
  const perl = findSystemProgram("perl");
  const sendmsg = SENDMSG[process.arch];
  return perl && sendmsg
    ? [perl, "-e", LISTEN_THEN_RUN_PERL, String(sendmsg), HAND_OVER]
    : ["/bin/sh", "-c", LISTEN_THEN_RUN_NODE, process.execPath];
}

/** The process has a network of its own, and a proxy that reaches the listed hosts. */
async function reachListed(hosts: readonly string[], { onHost }: Isolation): Promise<Way> {
  const { createHostProxy } = await import("../../base/net/host-proxy.ts");
  const proxy = createHostProxy({ hosts, ...(onHost && { onHost }) });
  return {
    // Perl complains about languages that the system does not have.
    env: { ...proxyVariables(PROXY_PORT), PERL_BADLANG: "0" },
    channels: ["ipc"],
    attach: (child) => {
      child.channel?.unref();
      child.once("message", (_, listener) => {
        // Nothing that keeps the other end can hand over more.
        if (child.connected) child.disconnect();
        if (!(listener instanceof Server)) return;
        listener.maxConnections = MOST_CONNECTIONS;
        listener.on("connection", (socket) => proxy.emit("connection", socket)).unref();
        child.once("exit", () => listener.close());
      });
    },
  };
}

/** Notes the hosts of programs that use a proxy; all others are reached directly. */
async function watchHosts({ env }: IsolatedProgram, { network, onHost }: Isolation): Promise<Way> {
  const hasOwnProxy = Object.keys(env).some((name) => /^(?:https?|all)_proxy$/i.test(name));
  if (network !== "all" || !onHost || hasOwnProxy) return { env: {}, channels: [], attach: () => {} };
  const { createHostProxy } = await import("../../base/net/host-proxy.ts");
  const proxy = createHostProxy({ hosts: undefined, onHost }).listen(0, "127.0.0.1").unref();
  await once(proxy, "listening");
  return {
    env: proxyVariables((proxy.address() as AddressInfo).port),
    channels: [],
    attach: (child) => child.once("exit", () => proxy.close()),
  };
}

function proxyVariables(port: number): Record<string, string> {
  const names = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"];
  const proxies = names.map((name) => [name, `http://127.0.0.1:${port}`]);
  const without = "localhost,127.0.0.1,::1";
  return { ...Object.fromEntries(proxies), NO_PROXY: without, no_proxy: without, NODE_USE_ENV_PROXY: "1" };
}

function findSystemProgram(name: string): string | undefined {
  return FOLDERS.map((folder) => `${folder}/${name}`).find((path) => existsSync(path));
}

/**
 * The arguments of bubblewrap. The process is alone among processes, because it could read the memory, the variables
 * and through `/proc` all files of others. It ends with its parent.
 */
export function toArguments(mounts: readonly SourcedMount[], network: Isolation["network"]): string[] {
  const [root, ...others] = mounts;
  return [
    ...mountArguments(root!),
    ...["--dev", "/dev", "--proc", "/proc"],
    ...others.flatMap(mountArguments),
    ...["--unshare-pid", "--unshare-ipc", "--die-with-parent", "--cap-drop", "ALL"],
    // Root reads files of others by these rights. None of them undoes a mount.
    ...(process.getuid?.() === 0 ? ROOT_MAY.flatMap((right) => ["--cap-add", right]) : []),
    ...(network === "all" ? [] : ["--unshare-net"]),
  ];
}

interface SourcedMount extends MountedPath {
  /** The path outside that stands here. Default: the same path. */
  readonly source?: string | undefined;
}

function mountArguments({ path, access, source = path }: SourcedMount): string[] {
  if (access === "empty") return ["--perms", "0700", "--tmpfs", path];
  if (access === "nothing") return ["--ro-bind", "/dev/null", path];
  if (access === "link") return ["--symlink", readlinkSync(path), path];
  return [access === "write" ? "--bind" : "--ro-bind", source, path];
}

/**
 * The absolute paths that texts name: a whole text, or the part after `=`, that is or begins with `/`, `.`, `..` or `~`. A
 * person has approved the arguments and variables of a server, so the paths in them are meant for it.
 */
export function pathsIn(texts: readonly string[], cwd: string, home: string): string[] {
  return texts.flatMap((text) => {
    const [, path] = /^(?:[^=/]*=)?(?:file:\/\/(?=\/))?((?:~|\.{0,2})\/.*|~|\.{1,2})$/s.exec(text) ?? [];
    if (path === undefined || path.includes("\0")) return [];
    return [path.startsWith("~") ? join(home, path.slice(1)) : resolve(cwd, path)];
  });
}
