import type { World } from "./world.ts";

/** One call of a solution: a tool of a server, or a document. */
export interface EvalCall {
  readonly server: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** The call reads: Keyhole's `get` makes it. */
  readonly reads?: true;
  /** The document that the call reads: its address behind Keyhole. */
  readonly address?: string;
  /** The words by which a model that does not see the tool looks for it. */
  readonly find: string;
}

/** A task that is checked by the state that it leaves. */
export interface Task {
  readonly id: string;
  readonly prompt: string;
  /** Why the state is wrong; undefined if the task is done. */
  check(world: World): string | undefined | Promise<string | undefined>;
  /** Calls that do it, for a scripted model. */
  readonly solution: readonly EvalCall[];
}

/** A call that changes something. */
export function change(server: string, tool: string, find: string, args: EvalCall["args"]): EvalCall {
  return { server, tool, args, find };
}

/** A call that reads. */
export function look(server: string, tool: string, find: string, args: EvalCall["args"] = {}): EvalCall {
  return { server, tool, args, find, reads: true };
}

/** Writes the answer to a question into a file. */
export function answerIn(folder: string, text: string): EvalCall {
  return change("files", "write_file", "write a file", { path: `${folder}/files/answer.txt`, content: text });
}

/** The end of a prompt that asks for the answer in a file. */
export function writeTo(folder: string): string {
  return `Write the answer, and nothing else, to ${folder}/files/answer.txt.`;
}

/** Checks the file of an answer. Spaces and a full stop at the end do not count. */
export function answers(text: string): Task["check"] {
  return (world) => {
    const found = world.read("files/answer.txt")?.trim().replace(/\.$/, "");
    return found === text
      ? undefined
      : `answer.txt has ${JSON.stringify(found)} instead of ${JSON.stringify(text)}`;
  };
}

/** The reason, unless the condition holds. */
export function unless(holds: boolean, reason: string): string | undefined {
  return holds ? undefined : reason;
}
