import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { loadPackage } from "../../agent/models/providers/define-provider.ts";
import { provideCarriedPackages } from "../open/carried-packages.ts";
import { firstRun, isFirstRun } from "../open/first-run.ts";
import { loadSettings } from "../open/load-settings.ts";
import { openSecrets } from "../open/secrets.ts";
import { ownConfig } from "../open/user-folders.ts";
import { hasTerminal } from "../terminal/confirm.ts";
import { defineCommand } from "../terminal/define-command.ts";
import { CONFIG, CONTINUE, MODEL, PROFILE, PROVIDER, RESUME, TRUST } from "../terminal/shared-options.ts";

export const chat = defineCommand({
  name: "chat",
  page: "chat.md",
  options: {
    continue: CONTINUE,
    resume: RESUME,
    provider: PROVIDER,
    model: MODEL,
    config: CONFIG,
    profile: PROFILE,
    trust: TRUST,
    plain: {
      help: `plain lines, as without a terminal; calls that would ask for permission are denied, and a line that fails
        makes the exit code 1`,
    },
  },
  notes: "In the chat, /help lists commands and keys.",
  run: async (input) => {
    await provideCarriedPackages();
    await loadPackage("ai", "keyhole chat", () => import("ai"));
    const [{ openChat }, { openChatHistory }, { createChat }] = await Promise.all([
      import("../open/open-chat.ts"),
      import("../../agent/chat/chat-history.ts"),
      import("../../agent/tui/create-chat.ts"),
    ]);
    const folder = process.cwd();
    if (input.provider === undefined && !input.plain) await setUpFirst(folder);
    const isPlain = input.plain || !process.stdin.isTTY || !process.stdout.isTTY;
    const { agent, past, problems, asksTrust, modelName, close } = await openChat(
      // The screen asks by itself.
      { ...input, folder, asksTrust: isPlain },
      input.continue ? "last" : input.resume,
    );
    const history = await openChatHistory(join(homedir(), ".keyhole", "history.jsonl"), folder);
    const opened = createChat(agent, {
      history: history.lines,
      onSent: history.add,
      isFile: (path) =>
        stat(path).then(
          (about) => about.isFile(),
          () => false,
        ),
      past,
    });
    // The question about trust says what is left out without it.
    const shown = problems.filter(({ code }) => isPlain || !asksTrust || code !== "FOLDER_NOT_TRUSTED");
    for (const { message } of shown) console.error(message);
    let ok = true;
    try {
      if (isPlain) {
        const { plainChat } = await import("../../agent/tui/plain-chat.ts");
        ok = await plainChat(opened, {
          input: process.stdin,
          write: (line) => process.stdout.write(`${line}\n`),
        });
      } else {
        const [{ showChat }, { listFiles }] = await Promise.all([
          import("../../agent/tui/show-chat.ts"),
          import("../../agent/tui/mentions.ts"),
        ]);
        const banner = `Keyhole, ${modelName()}. /help lists commands and keys.`;
        if (asksTrust) void opened.askTrust();
        await showChat(opened, { banner, files: await listFiles(folder) });
      }
    } finally {
      await close();
    }
    process.exit(ok ? 0 : 1);
  },
});

/** Lets the person choose a provider if nobody has yet. */
async function setUpFirst(project: string): Promise<void> {
  if (!isFirstRun(await loadSettings({ project }))) return;
  if (!hasTerminal())
    return console.error(
      "No model provider is set up yet, and choosing one needs a terminal. Without one, set KEYHOLE_PROVIDER and the provider's key, such as OPENAI_API_KEY.",
    );
  const isSetUp = await firstRun({
    file: ownConfig(),
    secrets: openSecrets(),
    input: process.stdin,
    output: process.stdout,
  });
  if (!isSetUp) process.exit(0);
}
