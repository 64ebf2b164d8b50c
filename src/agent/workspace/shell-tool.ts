import { z } from "zod";
import { refusedInPlan } from "../permissions/decide.ts";
import { toShellRequest } from "../permissions/to-request.ts";
import { runContext } from "../run-context.ts";
import { type CommandEnd, runCommand } from "./run-command.ts";
import { fail, succeed } from "./tool-response.ts";
import type { Run } from "./workspace-tool.ts";

const MAX_OUTPUT_BYTES = 128 * 1024;
const SHOWN_ON_FAILURE = 4_000;
export const MAX_COMMAND_MS = 600_000;

export const shellInput = z.strictObject({
  command: z
    .string()
    .min(1)
    .max(100_000)
    .refine((command) => !command.includes("\0"), "must not contain NUL")
    .describe("runs in the project's folder, without input; its processes end with it"),
  timeoutMs: z.int().min(1).max(MAX_COMMAND_MS).default(120_000),
});

export type ShellOutput = Omit<CommandEnd, "stopped">;

/** The output, followed by how the command ended unless it succeeded. */
export function shellText({ output, exitCode, killedBy, cutBytes }: ShellOutput): string {
  const end = killedBy === null ? `exit code ${exitCode}` : `killed by ${killedBy}`;
  const notes = [
    ...(cutBytes > 0 ? [`${cutBytes} bytes in the middle left out`] : []),
    ...(exitCode === 0 ? [] : [end]),
    ...(output.trim() === "" && exitCode === 0 ? ["no output"] : []),
  ];
  return [output.trimEnd(), ...(notes.length > 0 ? [`[${notes.join("; ")}]`] : [])]
    .filter((part) => part !== "")
    .join("\n");
}

export const runShell: Run<typeof shellInput, ShellOutput> = async (input, context, signal) => {
  const { allowed, reason } = await context.permissions.command(input.command, signal);
  if (!allowed) return fail("PERMISSION_DENIED", `shell-run: ${reason}`);
  const running = runContext.getStore();
  const start = () =>
    runCommand(input.command, {
      shell: context.shell,
      folder: context.root,
      environment: context.environment,
      timeoutMs: input.timeoutMs,
      maxBytes: MAX_OUTPUT_BYTES,
      signal,
      onOutput: (text) => {
        const callId = running?.call?.callId;
        if (callId !== undefined) running?.emit({ type: "tool-output", callId, text }, running.call?.span);
      },
    });
  const { stopped, ...end } = await (context.checkpoints && (await mayWrite(input.command, context.root))
    ? context.checkpoints.during(start)
    : start());
  const last = `Its output:\n${end.output.slice(-SHOWN_ON_FAILURE).toWellFormed()}`;
  if (stopped === "timeout")
    return fail("TIMEOUT", `The command was stopped after ${input.timeoutMs} ms. ${last}`);
  if (stopped === "cancelled") return fail("UNKNOWN", `The command was cancelled. ${last}`);
  const how = end.killedBy === null ? `exited with ${end.exitCode}` : `was killed by ${end.killedBy}`;
  return succeed(end, `The command ${how}.`);
};

/** Whether the command may change files; one that is not understood may. */
async function mayWrite(command: string, root: string): Promise<boolean> {
  return refusedInPlan(await toShellRequest(command, root)) !== undefined;
}
