import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { onTestFinished, test } from "vitest";
import type { ModelScript } from "../src/testing/scripted-model.ts";
import { serveScriptedModel } from "../src/testing/serve-scripted-model.ts";
import { programEnv } from "./program-env.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { openTerminal, type Terminal, type TerminalSize, tmuxMissing } from "./tmux.ts";

const MAIN = resolve("src/program/main.ts");

const missing = tmuxMissing();
if (missing) console.warn(`The chat is not driven in a terminal: ${missing}.`);
export const noTerminal = missing !== undefined;

/** A test of what a person sees, in a small terminal and in a large one. */
export function inTerminals(
  name: string,
  body: (openPlace: typeof chatPlace, size: TerminalSize) => Promise<void>,
): void {
  test.skipIf(noTerminal).each([
    [80, 24],
    [120, 40],
  ] as const)(`${name} (%i×%i)`, (...size) =>
    body((script, options) => chatPlace(script, { ...options, size }), size),
  );
}

export interface ChatPlaceOptions {
  /** Settings of the person, beside the provider. */
  readonly settings?: object;
  /** Files of the folder by their paths, with their content. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** Files of the person's home. */
  readonly home?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly size?: TerminalSize;
}

export interface ChatTerminal extends Terminal {
  /** Types a line, waits until the draft shows it, and sends it. */
  send(line: string): Promise<void>;
}

/** A folder, a home and a scripted model for chats in a terminal. */
export async function chatPlace(script: ModelScript, options: ChatPlaceOptions = {}) {
  const model = await serveScriptedModel(script);
  onTestFinished(() => model.close());
  const home = temporaryFolder();
  const folder = temporaryFolder();
  const local = { baseUrl: `${model.url}/v1`, model: "scripted" };
  const settings = { providers: { default: "local", local }, ...options.settings };
  plant(home, { ".keyhole/settings.json": JSON.stringify(settings), ...options.home });
  plant(folder, options.files ?? {});
  const env = { ...programEnv(home), XDG_CACHE_HOME: join(home, "cache"), ...options.env };
  const open = (...args: string[]): ChatTerminal => {
    const terminal = openTerminal([process.execPath, MAIN, "chat", ...args], {
      folder,
      env,
      size: options.size,
    });
    return {
      ...terminal,
      send: async (line) => {
        terminal.type(line);
        await terminal.sees(line.slice(-30));
        terminal.press("Enter");
      },
    };
  };
  return { model, home, folder, env, open };
}

export function plant(folder: string, files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}
