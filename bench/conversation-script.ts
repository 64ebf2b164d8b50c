// Thirty turns of a person who works with files, notes about people, and the servers of a team. The model's calls do
// not depend on the tools that it sees.

export interface WantedCall {
  readonly server: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** The search that a model without the tool makes. */
  readonly find: string;
}

export interface Turn {
  readonly prompt: string;
  readonly calls: readonly WantedCall[];
  readonly answer: string;
}

const call = (
  server: string,
  tool: string,
  args: WantedCall["args"],
  find = `${server} ${tool}`,
): WantedCall => ({
  server,
  tool,
  args,
  find,
});
const read = (path: string) => call("workspace", "read", { path }, "read a file");
const search = (pattern: string) => call("workspace", "search", { pattern }, "search in files");
const remember = (server: string, name: string, fact: string) =>
  call(
    server,
    "create_entities",
    { entities: [{ name, entityType: "note", observations: [fact] }] },
    `${server} create entities`,
  );
const recall = (server: string, query: string) =>
  call(server, "search_nodes", { query }, `${server} search nodes`);
const turn = (prompt: string, ...calls: readonly WantedCall[]): Turn => ({
  prompt,
  calls,
  answer: `In short: ${prompt.toLowerCase().replace(/[?.]$/, "")}, as the tools say. Tell me if you want more of it.`,
});

export const TURNS: readonly Turn[] = [
  turn("What is in the notes?", read("notes.md")),
  turn("And in the plan?", read("plan.md")),
  turn("Where do we mention 2?", search("2")),
  turn("Who is in the team?", recall("team", "team")),
  turn("Ann has joined the team.", remember("team", "Ann", "joined in November")),
  turn("So who is in the team now?", recall("team", "Ann")),
  turn("What do we know about the customer Fjell?", recall("customers", "Fjell")),
  turn("Fjell wants green doors.", remember("customers", "Fjell", "wants green doors")),
  turn("Compare it with the plan.", read("plan.md"), recall("customers", "green")),
  turn("Thank you."),
  turn(
    "Which files do the docs have?",
    call("docs", "list_allowed_directories", {}, "docs list allowed directories"),
  ),
  turn(
    "Which folders may the archive use?",
    call("archive", "list_allowed_directories", {}, "archive list allowed directories"),
  ),
  turn(
    "Is the everything server alive?",
    call("everything", "echo", { message: "alive" }, "everything echo"),
  ),
  turn("How much is 17 and 25?", call("everything", "get-sum", { a: 17, b: 25 }, "everything get sum")),
  turn("Note the decision: green doors.", remember("decisions", "doors", "green")),
  turn("Which decisions are there?", recall("decisions", "doors")),
  turn("Read the notes again.", read("notes.md")),
  turn("And the orders.", read("orders.csv")),
  turn("What changed for Fjell?", recall("customers", "Fjell")),
  turn(
    "Think about the order of work.",
    call(
      "thinking",
      "sequentialthinking",
      { thought: "First the doors.", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
      "sequential thinking",
    ),
  ),
  turn("Bob has joined too.", remember("team", "Bob", "joined in November")),
  turn("Who joined in November?", recall("team", "November")),
  turn("Search for heading marks.", search("^#")),
  turn("What did we decide about doors?", recall("decisions", "green")),
  turn("And how much is 4 and 5?", call("everything", "get-sum", { a: 4, b: 5 }, "everything get sum")),
  turn(
    "Which folders may the orders use?",
    call("orders", "list_allowed_directories", {}, "orders list allowed directories"),
  ),
  turn("Read the plan once more.", read("plan.md")),
  turn("What do we know about Ann?", recall("team", "Ann")),
  turn("Write down that we are done.", remember("decisions", "done", "all of it")),
  turn("Good night."),
];
