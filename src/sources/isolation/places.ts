/** Shared by everybody on the machine: homes, temporary files, and sockets of services such as Docker and the agent of ssh. */
export const SHARED_PLACES: readonly string[] = ["/home", "/root", "/tmp", "/var/tmp", "/run"];

/** Looks up names of hosts. A name can carry data out, so only a server that reaches every host has them. */
export const NAME_SERVICES: readonly string[] = [
  "/run/systemd/resolve",
  "/run/resolvconf",
  "/run/NetworkManager/resolv.conf",
  "/run/nscd",
];

/** Parts of shared places that programs need to run: programs of NixOS and Homebrew. */
export const SYSTEM_PLACES: readonly string[] = [
  "/run/current-system",
  "/run/opengl-driver",
  "/home/linuxbrew",
];

/** The folders that stand in for closed ones, while a server runs that saves a file there. Within a private place. */
export const HELD_FILES = ".local/state/keyhole/held";

/** Folders of a home that package managers fill, and that servers which they start may write. */
export const CACHES: readonly string[] = words(`
  .cache .npm .local/share/uv .local/share/pnpm .bun/install .yarn .m2 .gradle .nuget .cargo/registry .cargo/git go/pkg
`);

/**
 * Places of a home that hold keys, conversations or what may run: no server sees them unless a person names them. A test
 * compares them with the clients that Keyhole knows.
 */
export const PRIVATE_PLACES: readonly string[] = words(`
  .keyhole .local/state/keyhole .cache/keyhole

  .ssh .gnupg .aws .azure .config/gcloud .config/gh .config/glab-cli .config/hub .config/op .config/doctl .config/heroku
  .kube .docker .config/containers .oci .terraform.d .vault-token .git-credentials .config/git/credentials
  .netrc .npmrc .pypirc .pgpass .my.cnf .s3cfg .boto .databrickscfg .snowflake .password-store .local/share/keyrings
  .config/rclone .config/sops .config/age .config/1Password .config/Bitwarden .config/keepassxc .mcp-auth .Xauthority
  .bash_history .zsh_history .local/share/fish .node_repl_history .python_history .psql_history .mysql_history
  .bitcoin .ethereum .electrum .config/solana

  .claude .claude.json .codex .gemini .qwen .cursor .copilot .codeium .continue .cline .kimi .kilocode .roo .pi .factory
  .aider.conf.yml .config/Claude .config/Code .config/Code\\ -\\ Insiders .config/VSCodium .config/Cursor .config/Windsurf
  .config/zed .config/goose .config/opencode .local/share/opencode .local/share/goose .config/kilo .config/crush
  .config/amp .config/github-copilot .config/JetBrains

  .mozilla .thunderbird .config/google-chrome .config/google-chrome-beta .config/chromium .config/BraveSoftware
  .config/microsoft-edge .config/vivaldi .config/opera .cache/google-chrome .cache/chromium .cache/mozilla
  .cache/BraveSoftware .cache/microsoft-edge .var/app snap/firefox snap/chromium snap/thunderbird
  .config/Slack .config/discord .config/Signal .local/share/TelegramDesktop
`);

/** Words of a text; a backslash before a space keeps it. */
function words(text: string): string[] {
  return text.match(/(?:\\ |\S)+/g)?.map((word) => word.replaceAll("\\ ", " ")) ?? [];
}
