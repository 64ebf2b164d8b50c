import { OUTPUT_FORMATS } from "../../agent/chat/print-events.ts";
import { type Command, defineCommand } from "../terminal/define-command.ts";
import { CONFIG, CONTINUE, MODEL, PROFILE, PROVIDER, RESUME, TRUST } from "../terminal/shared-options.ts";

const chat = defineCommand({
  name: "chat",
  summary: "Chat with the agent in the terminal.",
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
  run: async (input) => (await import("../commands/chat.ts")).chat(input),
});

const run = defineCommand({
  name: "run",
  summary: "Ask the agent once and print its answer.",
  page: "agent.md",
  words: "[PROMPT]...",
  forms: ["-p PROMPT"],
  options: {
    prompt: { short: "p", takes: "TEXT", help: "the prompt; piped input is added to it or replaces it" },
    continue: CONTINUE,
    resume: RESUME,
    "json-schema": { takes: "FILE", help: "answer with JSON of this JSON Schema" },
    "output-format": { takes: "FORMAT", choices: OUTPUT_FORMATS, default: "text" },
    stream: {
      help: "write text as it arrives, also what the model says between calls (default in a terminal)",
    },
    provider: PROVIDER,
    model: MODEL,
    config: CONFIG,
    profile: PROFILE,
    trust: TRUST,
    allow: {
      takes: "RULE",
      repeats: true,
      help: "allow something for this run, such as 'shell-run(npm test)' or 'fs-write(src/**)'",
    },
    "allow-write": {
      help: `run tools that write without asking, also those that write the folder's files; commands and destructive
        tools stay denied`,
    },
  },
  notes: `Exit codes: 0 answered, 1 failed, 2 wrong usage, 3 a limit was reached (also that of the answer) or the model
    repeated itself, 4 the provider's content filter stopped the answer, 130 interrupted. Nobody can be asked, so calls
    that no rule of the settings or of --allow allows are denied.`,
  misuseCode: 2,
  run: async (input, { usage }) => (await import("../commands/run.ts")).runOnce({ ...input, usage }),
});

/** A command whose options are the fields of an operation, which are loaded when it runs. */
export interface OperationCommand extends Pick<Command, "name" | "summary" | "page"> {
  load(): Promise<Command>;
}

function operation(name: string, summary: string, of = name): OperationCommand {
  const load = async () => (await import("../commands/operate.ts")).operationCommand(of, summary);
  return { name, summary, load };
}

export const USE_TOOLS = [
  chat,
  run,
  operation("ask", "Find tools, skills, prompts and documents for a need."),
  operation("help", "Describe a domain, a group or one tool."),
  operation("get", "Run reading tools and load documents."),
  operation("exec", "Run one tool."),
  operation("batch", "Run several tools."),
  // The command `run` was there before the operation.
  operation("script", "Run a script over the tools.", "run"),
];
