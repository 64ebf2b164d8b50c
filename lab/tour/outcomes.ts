import { join } from "node:path";

/** One thing that a person wants, and the call of a server's tool that brings it about. */
export interface Outcome {
  readonly id: string;
  /** The need in words, as the prompt has it and as a search would. */
  readonly need: string;
  /** Absent: no server can do it. */
  readonly call?: OutcomeCall;
}

export interface OutcomeCall {
  readonly server: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** The tool of Keyhole that a model takes: `get` for what reads. */
  readonly by: "get" | "exec";
  /** A part of the result by which the outcome is recognised. */
  readonly shows: string;
  /** The arguments of a model that knows only the names of the required ones; `knows` is what it has not read. */
  readonly guess?: { readonly args: Readonly<Record<string, unknown>>; readonly knows: string };
}

/** The outcome that no server can bring about. */
export const UNMET = "unmet";
export const LARGE_FILE = "ledger.md";
/** A tool of the filesystem server that the config of a client denies. */
export const DENIED = "move_file";
export const SMALL_FILE = "note.txt";
export const SMALL_TEXT = "The cellar key hangs behind the clock.\n";

/** A ledger of 194 KB. */
export function largeText(): string {
  const lines = ["# Ledger"];
  for (let row = 0, bytes = 0; bytes < 194_000; row++) {
    if (row % 200 === 0) lines.push("", `## Book ${row / 200 + 1}`, "");
    const line = `- ${1_000 + row}: ${["wool", "salt", "copper", "paper"][row % 4]} from ${["Lisbon", "Bergen", "Genoa"][row % 3]}, ${(row * 37) % 900} crates, ${row % 7 === 0 ? "open" : "paid"}`;
    lines.push(line);
    bytes += line.length + 1;
  }
  return lines.join("\n");
}

/** The twelve outcomes of a tour. */
export function outcomesIn(project: string): readonly Outcome[] {
  const path = (name: string) => join(project, name);
  const entity = { name: "Ada", observations: ["keeps the ledger"] };
  return [
    {
      id: "list",
      need: "list the files of a folder",
      call: read("filesystem", "list_directory", { path: project }, SMALL_FILE),
    },
    {
      id: "small",
      need: "read a small text file",
      call: read("filesystem", "read_text_file", { path: path(SMALL_FILE) }, "behind the clock"),
    },
    {
      id: "large",
      need: "read a large text file",
      call: read("filesystem", "read_text_file", { path: path(LARGE_FILE) }, "Ledger"),
    },
    {
      id: "write",
      need: "write a text file",
      call: write(
        "filesystem",
        "write_file",
        { path: path("new.txt"), content: "Wind the clock.\n" },
        "new.txt",
      ),
    },
    {
      id: "remember",
      need: "create entities in the knowledge graph",
      call: {
        ...write("memory", "create_entities", { entities: [{ ...entity, entityType: "person" }] }, "Ada"),
        guess: { args: { entities: [{ ...entity, type: "person" }] }, knows: "entityType" },
      },
    },
    {
      id: "recall",
      need: "search the nodes of the knowledge graph",
      call: read("memory", "search_nodes", { query: "ledger" }, "Ada"),
    },
    {
      id: "forget",
      need: "delete an entity of the knowledge graph",
      call: write("memory", "delete_entities", { entityNames: ["Ada"] }, "delete"),
    },
    {
      id: "echo",
      need: "echo a message",
      call: read("everything", "echo", { message: "good evening" }, "good evening"),
    },
    { id: "sum", need: "add two numbers", call: read("everything", "get-sum", { a: 19, b: 23 }, "42") },
    {
      id: "picture",
      need: "get a tiny image",
      call: read("everything", "get-tiny-image", {}, "image"),
    },
    {
      id: "think",
      need: "think about a problem step by step",
      call: write(
        "sequential-thinking",
        "sequentialthinking",
        { thought: "Who has the key?", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
        "thoughtNumber",
      ),
    },
    { id: UNMET, need: "book a flight to Lisbon" },
  ];
}

/** The search by names that Claude Code and clients after it have. */
export function selectTools(needs: readonly Outcome[], toName = toolName): string {
  return `select:${needs.flatMap(({ call }) => (call ? toName(call.server, call.tool) : [])).join(",")}`;
}

/** The name that they have for a tool of a server. */
export function toolName(server: string, tool: string): string {
  return `mcp__${server}__${tool}`;
}

function read(server: string, tool: string, args: OutcomeCall["args"], shows: string): OutcomeCall {
  return { server, tool, args, by: "get", shows };
}

function write(server: string, tool: string, args: OutcomeCall["args"], shows: string): OutcomeCall {
  return { server, tool, args, by: "exec", shows };
}
