import { spawnSync } from "node:child_process";

/** A program in a terminal of its own. */
export interface LabTerminal {
  hasEnded(): boolean;
  screen(): string;
  type(text: string): void;
  /** Presses keys by tmux's names for them. */
  press(...keys: string[]): void;
  close(): void;
}

/** Why no client can be run in a terminal here, or undefined. */
export function whyNoTerminal(): string | undefined {
  return spawnSync("tmux", ["-V"]).status === 0 ? undefined : "tmux is not installed";
}

export function openTerminal(
  command: readonly string[],
  { folder, env }: { readonly folder: string; readonly env: Readonly<Record<string, string>> },
): LabTerminal {
  const variables = { ...env, TERM: "xterm-256color" };
  // The server passes its own variables on to the program.
  const tmux = (...args: string[]) =>
    spawnSync("tmux", ["-S", `${folder}/tmux`, "-f", "/dev/null", ...args], {
      encoding: "utf8",
      env: variables,
    });
  const { status, stderr } = tmux("new-session", "-d", "-x", "110", "-y", "45", "-c", folder, ...command);
  if (status !== 0) throw new Error(`tmux does not start: ${stderr}`);
  // The last words of a program that has ended stay on the screen.
  tmux("set-option", "-g", "remain-on-exit", "on");
  return {
    hasEnded: () => tmux("display-message", "-p", "#{pane_dead}").stdout.trim() !== "0",
    screen: () => tmux("capture-pane", "-p").stdout,
    type: (text) => void tmux("send-keys", "-l", text),
    press: (...keys) => void tmux("send-keys", ...keys),
    close: () => void tmux("kill-server"),
  };
}
