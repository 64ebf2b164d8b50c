import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { loadPackage } from "../models/providers/load-package.ts";
import { FLAG, readArgs, TEXT } from "./read-args.ts";

const USAGE = `Usage: keyhole chat [options]

  -c, --continue           continue the last conversation of this folder
  -r, --resume ID          continue that conversation
  --provider NAME          the provider to use
  --model NAME             the model to use
  --config FILE            as for keyhole serve
  --profile NAME           only the servers of this profile of the config
  --trust                  start the servers of a JSON config and accept all definitions without approval
  --plain                  plain lines, as without a terminal; calls that would ask for permission are denied,
                           and a line that fails makes the exit code 1
  -h, --help

In the chat, /help lists commands and keys.`;

/** Runs the chat until the person leaves. */
export async function run(args: readonly string[]): Promise<void> {
  const values = readOptions(args);
  if (values.help) return console.log(USAGE);
  await loadPackage("ai", "keyhole chat", () => import("ai"));
  const [{ openChat }, { openChatHistory }, { createChat }] = await Promise.all([
    import("./open-chat.ts"),
    import("./chat-history.ts"),
    import("../tui/create-chat.ts"),
  ]);
  const folder = process.cwd();
  const { config, profile, provider, model, trust } = values;
  if (provider === undefined && !values.plain) await setUpFirst(folder);
  const isPlain = values.plain || !process.stdin.isTTY || !process.stdout.isTTY;
  const { agent, past, problems, asksTrust, modelName, close } = await openChat(
    // The screen asks by itself.
    { folder, config, profile, provider, model, trust, asksTrust: isPlain },
    values.continue ? "last" : values.resume,
  );
  const history = await openChatHistory(join(homedir(), ".keyhole", "history.jsonl"), folder);
  const chat = createChat(agent, {
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
  const told = problems.filter(({ code }) => isPlain || !asksTrust || code !== "FOLDER_NOT_TRUSTED");
  for (const { message } of told) console.error(message);
  let ok = true;
  try {
    if (isPlain) {
      const { plainChat } = await import("../tui/plain-chat.ts");
      ok = await plainChat(chat, {
        input: process.stdin,
        write: (line) => process.stdout.write(`${line}\n`),
      });
    } else {
      const [{ showChat }, { listFiles }] = await Promise.all([
        import("../tui/show-chat.ts"),
        import("../tui/list-files.ts"),
      ]);
      const banner = `Keyhole, ${modelName()}. /help lists commands and keys.`;
      if (asksTrust) void chat.askTrust();
      await showChat(chat, { banner, files: await listFiles(folder) });
    }
  } finally {
    await close();
  }
  process.exit(ok ? 0 : 1);
}

/** Lets the person choose a provider if nobody has yet. */
async function setUpFirst(project: string): Promise<void> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return;
  const [{ firstRun, isFirstRun }, { openSecrets }, { loadSettings }, { settingsPath }] = await Promise.all([
    import("./first-run.ts"),
    import("./open-secrets.ts"),
    import("../config/load-settings.ts"),
    import("../config/settings-path.ts"),
  ]);
  if (!isFirstRun(await loadSettings({ project }))) return;
  const isSetUp = await firstRun({
    file: settingsPath(homedir()),
    secrets: openSecrets(),
    input: process.stdin,
    output: process.stdout,
  });
  if (!isSetUp) process.exit(0);
}

function readOptions(args: readonly string[]) {
  return readArgs("chat", args, {
    continue: { type: "boolean", short: "c", default: false },
    resume: { type: "string", short: "r" },
    provider: TEXT,
    model: TEXT,
    config: TEXT,
    profile: TEXT,
    trust: FLAG,
    plain: FLAG,
  }).values;
}
