import { OPTION_ROWS } from "./option-rows.ts";
import type { ProgramRow } from "./program-row.ts";

/** Every program that is known to run, fetch or write more than its words say. All rows of a program count. */
export const PROGRAM_TABLE: readonly ProgramRow[] = [
  {
    names: `. source eval exec alias unalias export set unset setopt unsetopt trap shopt read declare typeset
      readonly local hash enable bind fc history getopts mapfile readarray let cd chdir pushd popd umask builtin
      compgen complete compopt autoload zmodload emulate sched disown suspend logout exit return break continue
      shift noglob nocorrect zcompile zle zstyle print vared ulimit`,
    kind: "opaque",
    reason: "changes what later commands mean",
  },
  {
    names: `sh bash dash zsh ksh ksh93 mksh oksh yash ash fish csh tcsh rbash elvish nu xonsh osh ysh pwsh
      powershell cmd busybox toybox`,
    kind: "shell",
    reason: "is a shell and runs commands",
  },
  {
    names: `node nodejs deno bun python python2 python3 pypy pypy3 ipython perl ruby jruby php lua luajit tclsh
      wish java jshell groovy scala kotlin r rscript julia ghci runghc runhaskell swift elixir iex erl escript
      racket guile sbcl clisp ocaml clojure bb tsx ts-node nodemon octave gnuplot wine wine64 mono
      ts-node-esm tsimp jiti vite-node sucrase-node babel-node coffee lsc dart zig nim crystal odin v ghc qjs d8 jsc
      rhino graaljs hermes bpython ptpython micropython janet fennel moon picolisp gforth swipl gprolog sml poly coqtop
      fsi dotnet-script wasmtime wasmer emrun`,
    kind: "interpreter",
    reason: "runs the code that its first argument names",
  },
  {
    names: `sudo doas su runuser pkexec sg newgrp setpriv capsh gosu su-exec chpst setuidgid s6-setuidgid run0 runcon
      sudoedit calife super`,
    kind: "exact",
    reason: "runs a command as another user or with other rights",
  },
  {
    names: `chroot unshare nsenter bwrap firejail proot fakeroot fakechroot systemd-nspawn sandbox-exec cgexec jexec
      flatpak-spawn toolbox distrobox schroot pivot_root switch_root lxc-attach lxc-execute`,
    kind: "exact",
    reason: "runs a command in other namespaces",
  },
  {
    names: `env nice ionice chrt taskset numactl prlimit cpulimit softlimit choom setarch linux32 linux64 i386 x86_64
      uname26 setsid stdbuf timeout gtimeout time gtime nohup eatmydata faketime torsocks torify tsocks proxychains
      proxychains4 command flock lckdo lockf setlock withlock sem dbus-run-session dbus-launch systemd-inhibit
      caffeinate catchsegv ld.so ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 ld-musl-x86_64.so.1 setterm-run`,
    kind: "exact",
    reason: "runs the command in its words under other conditions",
  },
  {
    names: `dotenv dotenvx direnv envdir envchain aws-vault chamber doppler infisical op vault sops teller berglas
      with-contenv env-cmd cross-env cross-env-shell`,
    kind: "exact",
    reason: "runs a command with other variables or secrets",
  },
  {
    names: `xargs parallel rush pexec watch viddy entr watchexec fswatch chokidar reflex modd air bacon hyperfine
      multitime bench poop perf concurrently npm-run-all npm-run-all2 run-s run-p run-z foreman overmind honcho
      hivemind goreman pm2 forever supervisord supervisorctl circusd retry chronic ifne pee mispipe zrun find2perl
      mpirun mpiexec srun sbatch salloc qsub bsub pdsh pssh parallel-ssh dsh clush start-stop-daemon daemonize
      daemon run-parts runit runsv sv s6-svscan tini dumb-init xvfb-run xvfb-run-safe`,
    kind: "exact",
    reason: "runs the command in its words, once or many times",
  },
  {
    names: `strace ltrace truss dtruss dtrace gdb gdbserver cgdb ddd lldb rr valgrind bpftrace uftrace heaptrack kcov
      coverage py-spy pdb nsys sysdig apitrace scalene memray`,
    kind: "exact",
    reason: "runs the program that it examines",
  },
  {
    names: `script expect unbuffer rlwrap asciinema ttyrec termtosvg vhs dtach abduco screen tmux zellij byobu ssh
      autossh sshpass mosh sftp telnet rsh rlogin nc ncat netcat socat websocat ip adb vagrant multipass machinectl
      limactl`,
    kind: "exact",
    reason: "opens a terminal or a connection in which commands run",
  },
  {
    names: `at batch crontab anacron fcrontab systemd-run launchctl schtasks logrotate update-rc.d chkconfig`,
    kind: "exact",
    reason: "makes commands run later",
  },
  {
    names: "systemctl service rc-service",
    kind: "exact",
    reason: "starts services",
    unless: "status list-units list-unit-files is-active is-enabled is-failed show cat get-default",
    flags: "--user --system --no-pager",
  },
  {
    names: `awk gawk mawk nawk sed gsed ssed ed red ex vi vim view rvim nvim gvim emacs emacsclient nano pico micro hx
      helix kak joe jed mcedit code codium cursor subl atom zed less more most pg man info w3m lynx links elinks
      ftp lftp mail mailx mutt neomutt fzf sk ranger nnn lf vifm mc vipe vidir mlr m4 bc dc sqlite3 duckdb psql
      mysql mariadb mongo mongosh redis-cli clickhouse-client usql pgcli mycli litecli sqlplus isql maxima gp sage
      osascript open xdg-open gio sensible-editor sensible-pager sensible-browser editor pager git-shell gitk tig
      lazygit vimdiff opendiff meld`,
    kind: "exact",
    reason: "can run commands from its own language or keys",
  },
  {
    names: `ansible ansible-playbook ansible-console salt salt-call puppet chef-client fab cap knife fastlane
      qemu-system-x86_64 qemu-x86_64 qemu-aarch64 qemu-i386 qemu-arm`,
    kind: "exact",
    reason: "runs programs on this or other machines",
  },
  {
    names: "npx pnpx bunx uvx",
    kind: "named",
    reason: "runs the package that its first argument names",
    runs: true,
  },
  {
    names: `make gmake bmake cmake ctest ninja samu meson just task rake gradle gradlew mvn mvnw ant
      sbt lein mix rebar3 bazel bazelisk buck2 pants tox nox invoke doit scons waf turbo nx lerna wireit rush-x tup
      earthly dagger act pre-commit lefthook husky gulp grunt dune gleam spago plop hygen rails thor artisan wp drush
      flutter ng expo k6 newman locust streamlit uvicorn gunicorn flask django-admin celery jupyter papermill cake fake
      nuke msbuild xbuild xcodebuild briefcase wasm-pack pyinstaller nuitka mkdocs sphinx-build jekyll hugo middleman
      eleventy lint-staged semantic-release release-it changeset packer nomad consul ghcup`,
    kind: "named",
    reason: "runs the target that its first argument names",
  },
  {
    names: "make gmake bmake",
    kind: "exact",
    reason: "takes its rules or its shell from its arguments",
    when: "-f --file --makefile --eval -C --directory -I --include-dir -E *=",
  },
  {
    names: `uv poetry pipenv pdm hatch rye pixi pipx bundle conda mamba micromamba pyenv rbenv nodenv jenv goenv asdf
      mise rtx nvm volta fnm sdk nix nix-shell nix-env guix devbox spack dotnet rustup corepack proto`,
    kind: "named",
    reason: "runs programs of the environment that it manages",
    unless: "list show tree which where current versions search",
  },
  {
    names: `uv poetry pipenv pdm hatch rye pixi pipx bundle conda mamba pyenv rbenv asdf mise nvm volta fnm nix devbox bun
      deno`,
    kind: "named",
    reason: "runs the command that follows",
    when: "run exec x shell shim develop task tool",
    depth: 2,
    runs: true,
  },
  {
    names: "docker podman nerdctl kubectl oc",
    kind: "named",
    reason: "runs a command in a container",
    when: "run exec",
    values: "-n --namespace --context",
    depth: 2,
  },
  {
    names: `pip pip3 gem cpan cpanm luarocks composer brew port apt apt-get aptitude dnf yum zypper apk pacman dpkg rpm
      snap flatpak emerge choco scoop winget opam stack cabal hex pear pecl npm-check-updates easy_install
      nuget paket ansible-galaxy ansible-pull degit debootstrap`,
    kind: "named",
    reason: "runs code of the packages that it installs",
    unless: "list show search info freeze check outdated tree why licenses leaves deps policy",
  },
  {
    names:
      "docker docker-compose podman podman-compose nerdctl kubectl oc helm terraform tofu terragrunt pulumi cdk sam serverless eksctl flyctl heroku aws gcloud gsutil az firebase vercel netlify wrangler supabase prisma knex rclone restic twine flit etcdctl",
    kind: "named",
    reason: "runs and changes things outside of the project",
    unless: `ps images logs inspect version info events top port stats history search get describe explain
      api-resources api-versions cluster-info list status show validate output providers compose.ps compose.logs
      compose.ls config.view config.current-context rollout.status context.ls volume.ls network.ls image.ls`,
    values: "-n --namespace --context",
  },
  {
    names: "kubectl oc helm",
    kind: "exact",
    reason: "takes its logins or plugins from a file that an option names",
    when: "--kubeconfig --as --token plugin --post-renderer",
  },
  {
    names: "terraform tofu",
    kind: "exact",
    reason: "works in the folder that an option names",
    when: "-chdir",
    oneDash: true,
  },
  {
    names: "gh glab hub",
    kind: "named",
    reason: "knows aliases and extensions that run commands",
    unless: `pr.list pr.view pr.diff pr.status pr.checks issue.list issue.view issue.status run.list run.view
      release.list release.view repo.view repo.list workflow.list workflow.view search.code search.issues search.prs
      search.repos label.list status auth.status`,
  },
  {
    names: "gh glab",
    kind: "exact",
    reason: "runs commands of aliases, extensions or git options",
    when: "alias extension extensions codespace -- config.set",
  },
  {
    names: "npm pnpm yarn",
    kind: "named",
    reason: "runs scripts of package.json and of packages",
    unless: `ls list ll la view info show outdated why explain audit search ping whoami root prefix bin fund query
      help licenses config.get config.list team.ls owner.ls dist-tag.ls`,
  },
  {
    names: "npm pnpm yarn",
    kind: "exact",
    reason: "runs another program or changes what scripts do",
    when: `exec x explore dlx create init edit pkg.set set-script config.set config.edit set audit.fix --script-shell
      --shell --node-options --prefix -C --dir --cwd --userconfig --globalconfig --config --use-yarnrc --global-folder
      --shell-mode --shell-emulator --viewer --editor --git --browser`,
  },
  {
    names: "cargo",
    kind: "named",
    reason: "runs build scripts, aliases and the project's own code",
    unless: "tree metadata search info locate-project pkgid verify-project read-manifest",
  },
  {
    names: "cargo",
    kind: "exact",
    reason: "takes its runner and linker from an option",
    when: "--config -Z --manifest-path -C",
  },
  {
    names: "go",
    kind: "named",
    reason: "builds and runs the project's own code",
    unless: "version list doc env fmt help bug mod.graph mod.why mod.verify",
  },
  {
    names: "go",
    kind: "exact",
    reason: "runs the program that an option names, or changes its settings",
    when: "-exec -toolexec -vettool -overlay -modfile -C -o -w -u -cpuprofile -coverprofile -outputdir tool generate run",
    oneDash: true,
  },
  ...OPTION_ROWS,
];

/** Programs that write none of the files that their words name, unless a row of the table says so. */
export const READERS: ReadonlySet<string> = new Set(
  `cat bat batcat head tail ls ll dir vdir exa eza lsd wc grep egrep fgrep zgrep rg ag ack ugrep diff colordiff cmp comm
  stat file nl od hexdump xxd strings md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum shasum tree
  du df realpath readlink dirname basename test [ echo printf jq gojq jaq yq cut tr column paste join fold fmt expand
  unexpand tac rev find gfind fd fdfind which type whereis cloc tokei scc shellcheck sort gsort base64 base32 pwd true
  false seq sleep id whoami date uname hostname uptime ps lsof unzip zipinfo zcat xzcat bzcat`
    .trim()
    .split(/\s+/),
);
