/**
 * How far a rule can speak for a command. `plain`: its words say what it does. `runner`: it may run or write more,
 * which a person confirms by `**`. `wrapper`: it runs the command in its words, so only a rule with all of them
 * covers it. `opaque`: no rule covers it.
 */
export type CommandReach =
  | { readonly kind: "plain" }
  | { readonly kind: "runner" | "wrapper" | "opaque"; readonly reason: string };

/** Programs that only read, each with the options that make it write or run something. */
export const READERS: ReadonlyMap<string, readonly string[]> = new Map([
  ...names(
    `cat head tail ls dir vdir exa eza lsd wc grep egrep fgrep cmp comm stat nl od hexdump strings md5sum sha1sum
    sha224sum sha256sum sha384sum sha512sum b2sum cksum sum shasum du df realpath readlink dirname basename echo cut tr
    column paste join fold fmt expand unexpand tac rev which type whereis shellcheck base32 pwd true false exit seq sleep id
    whoami uname uptime ps zcat xzcat bzcat printenv`,
  ).map((name) => [name, []] as const),
  ...without("find gfind", "-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls"),
  ...without("fd fdfind", "-x -X --exec --exec-batch"),
  ...without("rg", "--pre --hostname-bin"),
  ...without("bat batcat", "--pager --lessopen --generate-config-file cache"),
  ...without("ag", "--pager"),
  ...without("diff", "-l --paginate"),
  ...without("sort gsort", "-o --output --compress-program -T --temporary-directory"),
  ...without("base64", "-o --output"),
  // tree -R writes a page into each folder.
  ...without("tree", "-o --output -R"),
  ...without("uniq", "**"),
  ...without("date", "-s --set 0-9"),
  ...without("printf", "-v"),
  ...without("test [", "-v -R"),
  ...without("jq gojq jaq", "-f --from-file -L --library-path -i --in-place"),
  ...without("file", "-C --compile"),
]);

/** Programs that write only the files that their words name. */
export const WRITERS = new Set(["cp", "mv", "mkdir", "touch"]);

/** Builtins that change what later commands mean. */
export const BUILTINS = new Set(
  names(
    `. source eval exec alias unalias export set unset setopt unsetopt trap shopt read declare typeset readonly local
    hash enable bind fc history getopts mapfile readarray let cd chdir pushd popd umask builtin compgen complete compopt
    autoload zmodload emulate sched disown suspend logout return break continue shift noglob nocorrect zcompile zle
    zstyle print vared ulimit`,
  ),
);

export const SHELLS = new Set(
  names(
    `sh bash dash zsh ksh ksh93 mksh oksh yash ash fish csh tcsh rbash elvish nu xonsh osh ysh pwsh powershell cmd
    busybox toybox`,
  ),
);

/** Programs that run the command in their words. */
export const WRAPPERS = new Set(
  names(
    `sudo doas su runuser pkexec setpriv gosu su-exec run0 chroot unshare nsenter bwrap firejail fakeroot env nice ionice
    chrt taskset numactl prlimit setarch setsid stdbuf timeout gtimeout time gtime nohup command flock ld.so direnv
    dotenv cross-env xargs parallel watch entr watchexec hyperfine retry chronic strace ltrace gdb valgrind perf script
    expect unbuffer ssh tmux screen systemd-run systemd-inhibit caffeinate torsocks proxychains at batch tini dumb-init
    xvfb-run start-stop-daemon`,
  ),
);

/** Programs that run code from their input where no word names a file. */
export const INTERPRETERS = new Set(
  names(
    `node nodejs deno bun python python2 python3 pypy pypy3 ipython perl ruby jruby php lua luajit tclsh wish jshell
    groovy scala kotlin r rscript julia ghci swift elixir iex erl racket guile sbcl clisp ocaml clojure bb tsx ts-node
    octave gnuplot awk gawk mawk nawk sed gsed ed ex m4 bc dc sqlite3 duckdb psql mysql mariadb mongosh redis-cli
    osascript`,
  ),
);

/**
 * Whether arguments have an option: long ones also abbreviated and with a value behind `=`, short ones also bundled
 * and with their value behind. A word without a dash has to be the first argument that is no option. `**` is two
 * arguments that are no options, `0-9` one of digits alone.
 */
export function hasOption(args: readonly string[], option: string): boolean {
  if (option === "**") return args.filter((arg) => !/^-./.test(arg)).length > 1;
  if (option === "0-9") return args.some((arg) => /^[0-9.]+$/.test(arg));
  if (!option.startsWith("-")) return args.find((arg) => !/^[-+]./.test(arg)) === option;
  return args.some((arg) => isOption(arg, option));
}

function isOption(arg: string, option: string): boolean {
  const [name = ""] = arg.split("=");
  if (option.startsWith("--")) return /^--./.test(name) && option.startsWith(name);
  // A word behind one dash, such as -exec of find.
  if (option.length > 2) return name === option || name === `-${option}`;
  return /^-[A-Za-z]/.test(arg) && arg.includes(option.charAt(1));
}

function names(text: string): string[] {
  return text.trim().split(/\s+/);
}

function without(programs: string, options: string): (readonly [string, readonly string[]])[] {
  return names(programs).map((name) => [name, names(options)]);
}
