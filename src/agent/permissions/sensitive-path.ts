import { IGNORED_IN_NAMES } from "../../base/safety/invisible.ts";

const SYSTEM = ["/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/proc/", "/sys/", "/dev/", "/run/secrets"];

/** A repository's own settings, and those of its submodules: remote addresses may have logins in them. */
const GIT_CONFIG = /\/\.git\/(?:.*\/)?config(?:\.worktree)?$/;

/** Whether the path is the project's folder or in it. */
export function isInside(path: string, root: string): boolean {
  return path === root || path.startsWith(root === "/" ? "/" : `${root}/`);
}

/** Whether a path may hold keys or logins. Such paths ask before any use, whatever the rules allow. */
export function holdsSecrets(path: string, root: string): boolean {
  const folded = fold(path);
  if (GIT_CONFIG.test(folded) || SYSTEM.some((start) => folded.startsWith(start))) return true;
  // A folder of logins counts also above the project; names count only inside it.
  return (
    matches(SECRETS, insideOf(path, root)) || folded.split("/").some((part) => SECRETS.folders.has(part))
  );
}

/**
 * Whether programs run or obey what is written at a path without being told to. `always`: such a write asks
 * whatever the rules allow. `build`: only a rule that names the file itself allows it.
 */
export function runsLater(path: string, root: string): "always" | "build" | undefined {
  const parts = insideOf(path, root);
  if (matches(RUN_ALWAYS, parts)) return "always";
  return matches(BUILD_FILES, parts) ? "build" : undefined;
}

function matches(names: PathNames, parts: readonly string[]): boolean {
  if (parts.some((part) => names.folders.has(part))) return true;
  const path = `/${parts.join("/")}`;
  if ([...names.ends].some((end) => path.endsWith(`/${end}`) || path.includes(`/${end}/`))) return true;
  if (names.files.has(parts.at(-1) ?? "")) return true;
  return parts.some((part) => names.patterns.some((pattern) => pattern.test(part)));
}

/** The parts below the project's folder, which itself may have any name. */
function insideOf(path: string, root: string): string[] {
  return fold(path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path).split("/");
}

/** As a file system that folds case, composes accents and ignores invisible characters would read it. */
function fold(path: string): string {
  return path.normalize("NFKC").replace(IGNORED_IN_NAMES, "").toLowerCase();
}

/** Names of paths that belong together, in lower case. */
interface PathNames {
  /** Any part of the path. */
  readonly folders: ReadonlySet<string>;
  /** The last part of the path. */
  readonly files: ReadonlySet<string>;
  /** Several parts together, such as `.config/gh`. */
  readonly ends: ReadonlySet<string>;
  /** Regular expressions for one part. */
  readonly patterns: readonly RegExp[];
}

/** Keys, logins, histories, and the settings of this agent. */
const SECRETS: PathNames = {
  folders: words(`
    .ssh .gnupg .aws .azure .kube .docker .password-store .keyhole keychains keyrings .mozilla .1password gcloud
    .oci .bluemix .aliyun .pulumi .fly .minikube .terraform.d .electrum .bitcoin .codex
  `),
  files: words(`
    .netrc _netrc .npmrc .yarnrc .yarnrc.yml .pypirc .pgpass .pg_service.conf .git-credentials .htpasswd .my.cnf
    .mylogin.cnf .vault-token .vault_pass .dockercfg login.keychain-db auth.json nuget.config pip.conf pip.ini .condarc
    .boto .s3cfg rclone.conf .databrickscfg .msmtprc .fetchmailrc .muttrc .curlrc .wgetrc .terraformrc terraform.rc
    wp-config.php wallet.dat cookies.sqlite logins.json key4.db signons.sqlite oauth_creds.json application_default.json
    .pgadmin.json .rediscli_auth .cargo_token .authinfo .authinfo.gpg .dbeaver-data-sources.xml .remote-sync.json
    .ftpconfig sftp.json .esmtprc .smbcredentials .terraform.lock.token .sentryclirc
  `),
  ends: words(`
    .m2/settings.xml .m2/settings-security.xml .gradle/gradle.properties .bundle/config .dbt/profiles.yml
    .snowsql/config .config/git/config .config/gh .config/op .config/hub .config/doctl .config/rclone
    .config/glab-cli .config/github-copilot etc/wireguard
  `),
  patterns: [
    /^\.env/,
    /\.env$/,
    /credential|secret/,
    /^id_(?:rsa|dsa|ecdsa|ed25519|xmss)/,
    /_(?:rsa|dsa|ecdsa|ed25519)$/,
    /\.(?:pem|key|p8|p12|pfx|kdbx?|jks|keystore|ppk|asc|gpg|agekey|ovpn|mobileprovision|keytab|tfvars|kubeconfig)$/,
    /\.tfstate(?:\.|$)/,
    /\.tfvars\./,
    /kubeconfig/,
    /^\.?(?:bash|zsh|sh|psql|mysql|sqlite|python|node_repl|irb|rediscli|mongo|fish)_?history$/,
    /^service[-_]?account.*\.json$/,
    /firebase-adminsdk/,
    /^login data$/,
    /^\.?vault[-_]?pass/,
  ],
};

/** Writing there makes programs run something without another step; no rule with a star reaches it. */
const RUN_ALWAYS: PathNames = {
  folders: words(`
    .git .husky .githooks .vscode .idea .fleet .zed .github .gitlab .gitea .forgejo .circleci .buildkite .devcontainer
    .cursor .claude .gemini .windsurf launchagents launchdaemons autostart cron.d cron.daily cron.hourly cron.weekly
    cron.monthly init.d profile.d sudoers.d
  `),
  files: words(`
    .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout
    .kshrc .cshrc .tcshrc .login .logout .inputrc .xinitrc .xprofile .xsession .vimrc .gvimrc .exrc .nvimrc .emacs .nanorc
    .tmux.conf .screenrc .gitconfig .gitmodules .hgrc .envrc .direnvrc .mise.toml .tool-versions .mcp.json mcp.json
    .pnpmfile.cjs .gdbinit .lldbinit .irbrc .pryrc .pythonrc .pythonrc.py .rprofile .psqlrc .sqliterc .octaverc .lftprc
    sitecustomize.py usercustomize.py crontab authorized_keys .pre-commit-config.yaml .pre-commit-config.yml .lefthook.yml
    lefthook.yml lefthook.yaml .gitlab-ci.yml .travis.yml .drone.yml .woodpecker.yml .appveyor.yml appveyor.yml
    azure-pipelines.yml bitbucket-pipelines.yml jenkinsfile .cirrus.yml buildspec.yml cloudbuild.yaml .semaphore.yml
    .gitpod.yml .replit
  `),
  ends: words(`
    .config/fish .config/nvim .config/git .config/systemd .config/mise .config/direnv .cargo/config
    .cargo/config.toml .emacs.d .vim node_modules/.bin .venv/bin venv/bin etc/cron.d
  `),
  patterns: [/\.(?:service|timer|socket|desktop|pth|code-workspace)$/, /^\.?zsh(?:rc|env)/],
};

/** Builds, tests and agents pick these files up by their names. Only a rule that names one allows writing it. */
const BUILD_FILES: PathNames = {
  folders: words("node_modules .venv venv site-packages .yarn .cargo .mvn .bundle"),
  files: words(`
    package.json npm-shrinkwrap.json deno.json deno.jsonc bunfig.toml makefile gnumakefile bsdmakefile justfile .justfile
    taskfile.yml taskfile.yaml rakefile gemfile guardfile podfile fastfile vagrantfile procfile dockerfile containerfile
    build.rs setup.py setup.cfg conftest.py noxfile.py tasks.py fabfile.py pyproject.toml tox.ini pytest.ini
    cmakelists.txt meson.build sconstruct wscript build.xml pom.xml build.sbt build.zig mix.exs rebar.config project.clj
    workspace.bazel module.bazel build.bazel flake.nix shell.nix default.nix devbox.json turbo.json nx.json
    lerna.json composer.json agents.md claude.md gemini.md .cursorrules .windsurfrules copilot-instructions.md
    .nycrc .mocharc.json .swcrc angular.json
  `),
  ends: new Set(),
  patterns: [
    /\.config\.[cm]?[jt]sx?$/,
    /^\.[a-z]+rc\.[cm]?[jt]s$/,
    /^\.(?:eslint|babel|prettier|stylelint|mocha)rc/,
    /\.(?:mk|mak|gemspec|bzl|gradle|gradle\.kts|podspec)$/,
    /^(?:docker-)?compose.*\.ya?ml$/,
    /^dockerfile\./,
    /^makefile\./,
  ],
};

function words(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}
