import { CLIENTS } from "../clients/clients.ts";
import { problem } from "../schema/problem.ts";
import { nearest } from "../util/nearest.ts";
import { readWordsAndArgs } from "./read-args.ts";

const SHELLS = ["bash", "zsh", "fish", "pwsh"] as const;
type Shell = (typeof SHELLS)[number];

const USAGE = `Usage: keyhole completion ${SHELLS.join("|")}

Prints a script that completes commands, their words and options.

  bash   eval "$(keyhole completion bash)"                      in ~/.bashrc
  zsh    eval "$(keyhole completion zsh)"                       in ~/.zshrc
  fish   keyhole completion fish > ~/.config/fish/completions/keyhole.fish
  pwsh   keyhole completion pwsh | Out-String | Invoke-Expression   in $PROFILE`;

const OPTIONS = ["--config", "--json", "--help"];

/** Words after a command. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  connect: [...CLIENTS.map(({ name }) => name), "--undo", "--projects", "--read-only", "--dry-run", "--yes"],
  pins: ["diff", "approve", "revoke", "--all", "--refresh", "--yes"],
  servers: ["allow", "revoke", "--all", "--yes"],
  token: ["add", "list", "revoke", "--scopes", "--allow-write", "--expires"],
  secrets: ["set", "remove"],
  audit: ["verify", "tail", "export", "--follow", "--since", "--principal"],
  daemon: ["status", "stop", "run"],
  completion: SHELLS,
  serve: [
    "--profile",
    "--trust",
    "--surface",
    "--allow-write",
    "--no-daemon",
    "--http",
    "--host",
    "--allow-host",
    "--port",
  ],
  doctor: ["--no-start"],
  ask: ["--explain", "--limit", "--max-tokens", "--url", "--profile"],
  exec: ["--dry-run", "--no-dry-run", "--allow-write", "--url", "--profile"],
  get: ["--url", "--profile"],
};

/** The words that follow a command, for the script of a shell. */
type Completions = ReadonlyMap<string, { readonly summary: string; readonly words: readonly string[] }>;

export async function run(args: readonly string[], summaries: ReadonlyMap<string, string>): Promise<void> {
  const { values, positionals } = readWordsAndArgs("completion", args, {});
  if (values.help) return console.log(USAGE);
  const [shell = "", ...more] = positionals;
  if (!SHELLS.includes(shell as Shell) || more.length > 0) {
    const [near] = nearest(shell, SHELLS);
    const hint = near && shell !== "" ? `; did you mean ${near}?` : "";
    throw problem("INVALID_INPUT", {
      operation: "completion",
      reason: `name one of ${SHELLS.join(", ")}${hint}`,
    });
  }
  const commands: Completions = new Map(
    [...summaries].map(([name, summary]) => [name, { summary, words: [...(WORDS[name] ?? []), ...OPTIONS] }]),
  );
  console.log(SCRIPTS[shell as Shell](commands));
}

const SCRIPTS: Readonly<Record<Shell, (commands: Completions) => string>> = { bash, zsh, fish, pwsh };

function bash(commands: Completions): string {
  const cases = [...commands].map(([name, { words }]) => `    ${name}) words="${words.join(" ")}" ;;`);
  return `_keyhole() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words
  case "\${COMP_CWORD}:\${COMP_WORDS[1]}" in
    1:*) COMPREPLY=($(compgen -W "${[...commands.keys()].join(" ")} --help --version" -- "$current")); return ;;
  esac
  case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
  esac
  if [[ "\${COMP_WORDS[COMP_CWORD-1]}" == --config ]]; then COMPREPLY=($(compgen -f -- "$current")); return; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _keyhole keyhole`;
}

function zsh(commands: Completions): string {
  const names = [...commands].map(([name, { summary }]) => `    '${name}:${quoted(summary)}'`);
  const cases = [...commands].map(([name, { words }]) => `      ${name}) compadd -- ${words.join(" ")} ;;`);
  return `#compdef keyhole
_keyhole() {
  local -a commands
  commands=(
${names.join("\n")}
  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
  elif [[ $words[CURRENT-1] == --config ]]; then
    _files
  else
    case $words[2] in
${cases.join("\n")}
    esac
  fi
}
compdef _keyhole keyhole`;
}

function fish(commands: Completions): string {
  const first = [...commands].map(
    ([name, { summary }]) =>
      `complete -c keyhole -n __fish_use_subcommand -f -a ${name} -d '${quoted(summary)}'`,
  );
  const rest = [...commands].map(
    ([name, { words }]) =>
      `complete -c keyhole -n '__fish_seen_subcommand_from ${name}' -a '${words.join(" ")}'`,
  );
  return [...first, ...rest].join("\n");
}

function pwsh(commands: Completions): string {
  const rows = [...commands].map(
    ([name, { words }]) => `    '${name}' = @(${words.map((word) => `'${word}'`).join(", ")})`,
  );
  return `Register-ArgumentCompleter -Native -CommandName keyhole -ScriptBlock {
  param($word, $ast, $position)
  $commands = @{
${rows.join("\n")}
  }
  $said = @($ast.CommandElements | ForEach-Object { $_.ToString() })
  $isFirst = $said.Count -lt 2 -or ($said.Count -eq 2 -and $word -ne '')
  $candidates = if ($isFirst) { $commands.Keys | Sort-Object } else { $commands[$said[1]] }
  $candidates | Where-Object { $_ -like "$word*" } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}`;
}

function quoted(text: string): string {
  return text.replaceAll("'", "").replaceAll(":", "");
}
