import { defineCommand } from "../terminal/define-command.ts";

/** The words that follow a command, for the script of a shell. */
type Completions = ReadonlyMap<string, { readonly summary: string; readonly words: readonly string[] }>;

const SCRIPTS: Readonly<Record<string, (commands: Completions) => string>> = { bash, zsh, fish, pwsh };

export const completion = defineCommand({
  name: "completion",
  words: "SHELL",
  choices: ["bash", "zsh", "fish", "pwsh"],
  about: `Prints a script that completes commands, their words and options.

  bash   eval "$(keyhole completion bash)"                          in ~/.bashrc
  zsh    eval "$(keyhole completion zsh)"                           in ~/.zshrc
  fish   keyhole completion fish > ~/.config/fish/completions/keyhole.fish
  pwsh   keyhole completion pwsh | Out-String | Invoke-Expression   in $PROFILE`,
  run: async ({ words: [shell = ""] }, { commands: load }) => {
    const commands = new Map(
      (await load()).map((command) => [
        command.name,
        { summary: command.summary, words: command.completions() },
      ]),
    );
    console.log(SCRIPTS[shell]?.(commands));
  },
});

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
