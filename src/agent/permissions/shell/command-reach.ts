import type { SimpleCommand } from "./shell-command.ts";

/**
 * How far a rule can speak for a command. `plain`: its words say what it does. `exact`: it runs what its
 * words name, so only a rule with all of them covers it. `opaque`: it changes what later commands mean or
 * runs what is not in its words, so no rule covers it.
 */
export type Reach = "plain" | "exact" | "opaque";

const OPAQUE = words(`
  . source eval exec alias unalias export set unset setopt unsetopt trap shopt read declare typeset readonly
  local hash enable bind fc history getopts mapfile readarray let cd chdir pushd popd umask builtin
  compgen complete compopt autoload zmodload emulate sched disown suspend logout exit return break continue shift
`);
const SHELLS = words("sh bash dash zsh ksh mksh ash fish csh tcsh rbash pwsh powershell cmd busybox toybox");
const RUNNERS = words(`
  sudo doas su runuser pkexec env xargs parallel command nohup nice ionice chrt taskset setsid setarch
  stdbuf timeout time watch jobs unshare nsenter chroot script expect strace ltrace gdb lldb perf valgrind
  entr flock at batch crontab systemd-run ssh sshpass mosh telnet nc ncat socat screen tmux
  awk gawk mawk nawk sed gsed ed ex vi vim nvim view emacs nano pico less more most man info
  m4 bc dc sqlite3 psql mysql mongosh redis-cli rlwrap unbuffer proot fakeroot ld.so osascript open xdg-open
`);
/** They run code that their first argument names; options before it can be code themselves. */
const INTERPRETERS = words(`
  node nodejs deno bun python python2 python3 pypy pypy3 perl ruby php lua luajit tclsh wish java jshell
  groovy scala kotlin r rscript julia ghci swift go-run npx pnpx bunx uvx pipx uv poetry pipenv bundle
  docker podman nerdctl kubectl helm make gmake cmake ninja just rake gradle mvn ant tsx ts-node
`);
/** Options by which a plain command runs another one, deletes, or writes where it is told. */
const REACHING: ReadonlyMap<string, readonly string[]> = new Map([
  ["find", ["-exec", "-ok", "-delete", "-fprint", "-fls"]],
  ["fd", ["-x", "-X", "--exec"]],
  ["fdfind", ["-x", "-X", "--exec"]],
  [
    "git",
    [
      "-c",
      "-C",
      "-O",
      "-x",
      "--config-env",
      "--exec",
      "--git-dir",
      "--work-tree",
      "--upload-pack",
      "--receive-pack",
      "--ext-diff",
      "--textconv",
      "--open-files-in-pager",
      "--output",
      "ext::",
    ],
  ],
  ["rg", ["--pre", "--hostname-bin"]],
  ["sort", ["-o", "--output", "--compress-program", "-T"]],
  [
    "tar",
    [
      "-I",
      "-F",
      "--to-command",
      "--checkpoint-action",
      "--use-compress-program",
      "--rsh-command",
      "--rmt-command",
      "--info-script",
      "--new-volume-script",
    ],
  ],
  ["rsync", ["-e", "--rsh", "--rsync-path"]],
  ["scp", ["-o", "-S", "-F"]],
  ["zip", ["-T", "--unzip-command"]],
  ["curl", ["-o", "-O", "-K", "--output", "--remote-name", "--config", "-T", "--upload-file"]],
  ["wget", ["-O", "-i", "--output-document", "--use-askpass", "--post-file", "-e", "--execute"]],
  [
    "npm",
    [
      "exec",
      "x",
      "explore",
      "--script-shell",
      "--shell",
      "--node-options",
      "--prefix",
      "-C",
      "--userconfig",
      "--globalconfig",
    ],
  ],
  ["pnpm", ["exec", "dlx", "--script-shell", "--shell", "--node-options", "--config", "-C", "--dir"]],
  ["yarn", ["exec", "dlx", "--cwd"]],
  ["cargo", ["--config"]],
  ["go", ["-exec", "-toolexec", "run", "generate"]],
  ["date", ["-s", "--set"]],
  ["tree", ["-o"]],
  ["printf", ["-v"]],
  ["test", ["-v", "-R"]],
  ["[", ["-v", "-R"]],
  ["wait", ["-p"]],
  ["jq", ["-f", "--from-file"]],
]);

export function reachOf(command: SimpleCommand): Reach {
  const name = programOf(command);
  if (name === undefined || OPAQUE.has(name)) return "opaque";
  const args = argumentsOf(command);
  if (SHELLS.has(name)) return args.length === 0 || readsInput(args) ? "opaque" : "exact";
  if (INTERPRETERS.has(baseName(name))) return readsInput(args) || args.length === 0 ? "opaque" : "exact";
  if (RUNNERS.has(name)) return "exact";
  const options = REACHING.get(name) ?? [];
  // The first word of tar may be its options, without a dash.
  if (name === "tar" && args[0] !== undefined && !args[0].startsWith("-")) args[0] = `-${args[0]}`;
  const reaches = args.some((arg) => options.some((option) => isOption(arg, option)));
  return reaches ? "exact" : "plain";
}

/** Whether the fixed words of a rule say enough for `*` to stand for the others, though the command runs code. */
export function namesScript(command: SimpleCommand, fixed: number): boolean {
  const name = programOf(command);
  if (name === undefined || !INTERPRETERS.has(baseName(name))) return false;
  const first = argumentsOf(command)[0];
  return fixed >= command.assignments + 2 && first !== undefined && !/^[-+]/.test(first);
}

/** The program's name without its folder, in lower case; undefined where there are only assignments. */
export function programOf({ words, assignments }: SimpleCommand): string | undefined {
  const name = words[assignments]?.text;
  return name?.slice(name.lastIndexOf("/") + 1).toLowerCase();
}

function argumentsOf({ words, assignments }: SimpleCommand): string[] {
  return words.slice(assignments + 1).map(({ text }) => text);
}

/** Long options are also taken in short forms and with a value after `=`; short ones with a value behind. */
function isOption(arg: string, option: string): boolean {
  if (/^[a-z]+$/.test(option)) return arg === option;
  if (arg.startsWith(option)) return true;
  const [name = ""] = arg.split("=");
  if (option.startsWith("--")) return name.length > 3 && option.startsWith(name);
  const bundled = option.length === 2 && option.startsWith("-") && /^-[A-Za-z]/.test(arg);
  return bundled && !arg.startsWith("--") && arg.includes(option.charAt(1));
}

/** Code that comes over the pipe or from a here-document stands in no word. */
function readsInput(args: readonly string[]): boolean {
  return args.every((arg) => arg.startsWith("-")) && args.some((arg) => /^-(?:s|i|l|)$/.test(arg));
}

/** `python3.12` is `python3`. */
function baseName(name: string): string {
  return name.replace(/(?:\.[0-9]+)+$/, "");
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}
