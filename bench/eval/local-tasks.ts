import { answerIn, answers, change, look, type Task, unless, writeTo } from "./task.ts";

/** Tasks over files, a knowledge graph, a database and a repository. */
export function localTasks(folder: string): Task[] {
  return [...fileTasks(folder), ...memoryTasks(folder), ...sqliteTasks(folder), ...gitTasks(folder)];
}

function fileTasks(folder: string): Task[] {
  const path = (name: string) => `${folder}/files/${name}`;
  const write = (name: string, content: string) =>
    change("files", "write_file", "write a file", { path: path(name), content });
  const edit = (name: string, oldText: string, newText: string) =>
    change("files", "edit_file", "edit a text file", { path: path(name), edits: [{ oldText, newText }] });
  const move = (source: string, destination: string) =>
    change("files", "move_file", "move a file", { source: path(source), destination: path(destination) });
  const read = (name: string) => look("files", "read_text_file", "read a text file", { path: path(name) });
  return [
    {
      id: "files-create",
      prompt: `Create the file ${path("welcome.txt")} with the text "Good evening".`,
      check: (world) =>
        unless(
          /^Good evening\.?\n?$/.test(world.read("files/welcome.txt") ?? ""),
          "welcome.txt is not there as asked for",
        ),
      solution: [write("welcome.txt", "Good evening")],
    },
    {
      id: "files-tick",
      prompt: `In ${path("todo.md")}, tick "Oil the gate" and change nothing else.`,
      check: (world) =>
        unless(
          world.read("files/todo.md") ===
            "# To do\n\n- [ ] Wind the clock\n- [x] Oil the gate\n- [x] Sweep the yard\n",
          "todo.md is not as asked for",
        ),
      solution: [read("todo.md"), edit("todo.md", "- [ ] Oil the gate", "- [x] Oil the gate")],
    },
    {
      id: "files-move",
      prompt: `Move ${path("drafts/letter.txt")} to ${path("letter.txt")}.`,
      check: (world) =>
        unless(
          world.read("files/drafts/letter.txt") === undefined &&
            /Moen/.test(world.read("files/letter.txt") ?? ""),
          "the letter was not moved",
        ),
      solution: [move("drafts/letter.txt", "letter.txt")],
    },
    {
      id: "files-sum",
      prompt: `Add up the totals of the customer Berg in ${path("orders.csv")}. ${writeTo(folder)}`,
      check: answers("165"),
      solution: [read("orders.csv"), answerIn(folder, "165")],
    },
    {
      id: "files-setting",
      prompt: `Set the port in ${path("config.json")} to 9090 and leave the rest as it is.`,
      check: (world) => {
        const { port, debug } = JSON.parse(world.read("files/config.json") ?? "{}");
        return unless(port === 9090 && debug === true, "config.json is not as asked for");
      },
      solution: [read("config.json"), edit("config.json", "8080", "9090")],
    },
    {
      id: "files-archive",
      prompt: `Make the folder ${path("archive")} and move ${path("drafts/old.txt")} into it.`,
      check: (world) =>
        unless(
          world.read("files/archive/old.txt") !== undefined &&
            world.read("files/drafts/old.txt") === undefined,
          "old.txt is not in the archive",
        ),
      solution: [
        change("files", "create_directory", "create a directory", { path: path("archive") }),
        move("drafts/old.txt", "archive/old.txt"),
      ],
    },
    {
      id: "files-find",
      prompt: `Which of the text files in ${path("")} says where the cellar key is? Find out the place. ${writeTo(folder)} Give the name of the file without its folder.`,
      check: answers("notes.txt"),
      solution: [
        look("files", "list_directory", "list a directory", { path: path("") }),
        read("notes.txt"),
        answerIn(folder, "notes.txt"),
      ],
    },
  ];
}

function memoryTasks(folder: string): Task[] {
  const write = (tool: string, find: string, args: object) => change("memory", tool, find, { ...args });
  return [
    {
      id: "memory-create",
      prompt:
        'Add Cleo to the knowledge graph: an entity of type person with the observation "paints boats".',
      check: (world) =>
        unless(
          world
            .graph()
            .some(
              ({ name, entityType, observations }) =>
                name === "Cleo" && entityType === "person" && String(observations).includes("paints boats"),
            ),
          "Cleo is not in the graph",
        ),
      solution: [
        write("create_entities", "create entities in the knowledge graph", {
          entities: [{ name: "Cleo", entityType: "person", observations: ["paints boats"] }],
        }),
      ],
    },
    {
      id: "memory-observe",
      prompt: 'Note in the knowledge graph that Ada "speaks Dutch".',
      check: (world) =>
        unless(
          world
            .graph()
            .some(({ name, observations }) => name === "Ada" && /speaks Dutch/.test(String(observations))),
          "Ada has no such observation",
        ),
      solution: [
        write("add_observations", "add observations to an entity", {
          observations: [{ entityName: "Ada", contents: ["speaks Dutch"] }],
        }),
      ],
    },
    {
      id: "memory-forget",
      prompt: "Remove Boris from the knowledge graph.",
      check: (world) =>
        unless(
          !world.graph().some(({ name }) => name === "Boris") && world.graph().length === 2,
          "the graph is not as asked for",
        ),
      solution: [
        write("delete_entities", "delete an entity of the knowledge graph", { entityNames: ["Boris"] }),
      ],
    },
    {
      id: "memory-relate",
      prompt: 'In the knowledge graph, relate Ada to the Harbour office by "works_at".',
      check: (world) =>
        unless(
          world
            .graph()
            .some(
              ({ from, to, relationType }) =>
                from === "Ada" && to === "Harbour office" && relationType === "works_at",
            ),
          "the relation is missing",
        ),
      solution: [
        write("create_relations", "create a relation between entities", {
          relations: [{ from: "Ada", to: "Harbour office", relationType: "works_at" }],
        }),
      ],
    },
    {
      id: "memory-correct",
      prompt: "In the knowledge graph, Ada no longer keeps the ledger: delete that observation.",
      check: (world) => {
        const ada = world.graph().find(({ name }) => name === "Ada");
        return unless(
          ada !== undefined && !/ledger/.test(String(ada.observations)),
          "the observation is still there",
        );
      },
      solution: [
        look("memory", "search_nodes", "search the knowledge graph", { query: "Ada" }),
        write("delete_observations", "delete observations of an entity", {
          deletions: [{ entityName: "Ada", observations: ["keeps the ledger"] }],
        }),
      ],
    },
    {
      id: "memory-answer",
      prompt: `Who keeps the ledger, by the knowledge graph? ${writeTo(folder)} The first name is enough.`,
      check: answers("Ada"),
      solution: [
        look("memory", "search_nodes", "search the knowledge graph", { query: "ledger" }),
        answerIn(folder, "Ada"),
      ],
    },
  ];
}

function sqliteTasks(folder: string): Task[] {
  const write = (query: string) =>
    change("sqlite", "write_query", "run an INSERT, UPDATE or DELETE in the database", { query });
  const read = (query: string) => look("sqlite", "read_query", "run a SELECT in the database", { query });
  const tables = look("sqlite", "list_tables", "list the tables of the database");
  return [
    {
      id: "sqlite-insert",
      prompt: "Add the customer Moen from Voss to the database.",
      check: (world) =>
        unless(
          world.rows("SELECT * FROM customers WHERE name = 'Moen' AND city = 'Voss'").length === 1,
          "Moen is not a customer",
        ),
      solution: [tables, write("INSERT INTO customers (name, city) VALUES ('Moen', 'Voss')")],
    },
    {
      id: "sqlite-update",
      prompt: "Mark every open order in the database as paid.",
      check: (world) =>
        unless(
          world.rows("SELECT * FROM orders WHERE state = 'paid'").length === 4,
          "not all orders are paid",
        ),
      solution: [
        read("SELECT * FROM orders"),
        write("UPDATE orders SET state = 'paid' WHERE state = 'open'"),
      ],
    },
    {
      id: "sqlite-delete",
      prompt: "Delete the orders below 50 from the database.",
      check: (world) =>
        unless(
          world
            .rows("SELECT id FROM orders")
            .map(({ id }) => id)
            .join() === "1,2,4",
          "the wrong orders are left",
        ),
      solution: [write("DELETE FROM orders WHERE total < 50")],
    },
    {
      id: "sqlite-create",
      prompt: "Create a table suppliers in the database, with the columns id and name.",
      check: (world) =>
        unless(
          world
            .rows("SELECT name FROM pragma_table_info('suppliers')")
            .map(({ name }) => name)
            .sort()
            .join() === "id,name",
          "there is no such table",
        ),
      solution: [
        change("sqlite", "create_table", "create a table in the database", {
          query: "CREATE TABLE suppliers (id INTEGER PRIMARY KEY, name TEXT)",
        }),
      ],
    },
    {
      id: "sqlite-answer",
      prompt: `What is the sum of the totals of all orders of customers in Oslo, by the database? ${writeTo(folder)}`,
      check: answers("465"),
      solution: [
        tables,
        read(
          "SELECT SUM(total) FROM orders JOIN customers ON customers.id = customer_id WHERE city = 'Oslo'",
        ),
        answerIn(folder, "465"),
      ],
    },
    {
      id: "sqlite-move",
      prompt: "The customer Lien has moved to Oslo: change it in the database.",
      check: (world) =>
        unless(
          world.rows("SELECT * FROM customers WHERE name = 'Lien' AND city = 'Oslo'").length === 1,
          "Lien has not moved",
        ),
      solution: [write("UPDATE customers SET city = 'Oslo' WHERE name = 'Lien'")],
    },
  ];
}

function gitTasks(folder: string): Task[] {
  const path = `${folder}/repo`;
  const write = (tool: string, find: string, args: object) => change("git", tool, find, { path, ...args });
  return [
    {
      id: "git-commit",
      prompt: `Commit the change in the repository ${path} with the message "Say what it does".`,
      check: (world) =>
        unless(
          world.git("log", "-1", "--format=%s").trim() === "Say what it does" &&
            world.git("status", "--porcelain") === "",
          "the change is not committed as asked for",
        ),
      solution: [
        look("git", "git_status", "status of the working tree", { path }),
        write("git_add", "stage changes", { paths: ["README.md"] }),
        write("git_commit", "commit staged changes", { message: "Say what it does" }),
      ],
    },
    {
      id: "git-branch",
      prompt: `Create a branch "fix" in the repository ${path}, from main.`,
      check: (world) =>
        unless(/\bfix\b/.test(world.git("branch", "--list", "fix")), "there is no branch fix"),
      solution: [write("git_branch", "create a branch", { mode: "create", branchName: "fix" })],
    },
    {
      id: "git-tag",
      prompt: `Tag the last commit of main in the repository ${path} as "v2".`,
      check: (world) => {
        const tag = world.git("tag", "--list", "v2").trim();
        return unless(
          tag === "v2" && world.git("rev-parse", "v2^{commit}") === world.git("rev-parse", "main"),
          "v2 is not there",
        );
      },
      solution: [write("git_tag", "create a tag", { mode: "create", tagName: "v2" })],
    },
    {
      id: "git-merge",
      prompt: `Merge the branch "difference" into main in the repository ${path}.`,
      check: (world) =>
        unless(/difference\.js/.test(world.git("ls-tree", "--name-only", "main")), "main lacks the branch"),
      solution: [
        write("git_merge", "merge a branch", { branch: "difference", message: "Merge the difference" }),
      ],
    },
    {
      id: "git-discard",
      prompt: `Discard the change of README.md that is not committed in the repository ${path}.`,
      check: (world) => unless(world.git("status", "--porcelain") === "", "the change is still there"),
      solution: [
        write("git_checkout", "restore a file from the last commit", {
          target: "main",
          paths: ["README.md"],
        }),
      ],
    },
    {
      id: "git-answer",
      prompt: `What is the message of the last commit on main in the repository ${path}? ${writeTo(folder)}`,
      check: answers("Round the sum"),
      solution: [
        look("git", "git_log", "history of commits", { path, maxCount: 1 }),
        answerIn(folder, "Round the sum"),
      ],
    },
  ];
}
