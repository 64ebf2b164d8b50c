// What the tasks of the evaluation work on: a folder with files, a knowledge graph, a database and a repository, the
// four systems of the playground, and the MCP servers in front of them. Each run begins with the same state.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createGateway, type Gateway } from "keyhole";
import { createMcpServer, serveHttp } from "keyhole/mcp";
import { PLAYGROUND } from "../../examples/playground/principals.ts";
import { createSystems } from "../../examples/playground/systems.ts";
import { type Installed, installPackages } from "../install-packages.ts";

/** An MCP server as a client's config has it. */
export type EvalServer =
  | {
      readonly command: string;
      readonly args: readonly string[];
      readonly env?: Readonly<Record<string, string>>;
    }
  | { readonly url: string; readonly headers: Readonly<Record<string, string>> };

type Row = Readonly<Record<string, unknown>>;

export interface World {
  readonly folder: string;
  readonly servers: Readonly<Record<string, EvalServer>>;
  /** Restores the first state. */
  reset(): void;
  /** The text of a file; undefined if there is none. */
  read(name: string): string | undefined;
  /** The entities and relations of the knowledge graph. */
  graph(): readonly Row[];
  /** The rows of a query in the database. */
  rows(sql: string): readonly Row[];
  /** The output of git in the repository. */
  git(...args: string[]): string;
  /** The result of a reading tool of the playground, as JSON. */
  look(op: string, params?: object): Promise<string>;
  close(): Promise<void>;
}

/** The one server that the project does not install itself. */
export function installGitServer(): Installed {
  return installPackages("peers", "git-server", { "@cyanheads/git-mcp-server": "2.15.3" });
}

const FILES: Readonly<Record<string, string>> = {
  "notes.txt": "The cellar key hangs behind the clock.\nThe roof is checked in May.\n",
  "todo.md": "# To do\n\n- [ ] Wind the clock\n- [ ] Oil the gate\n- [x] Sweep the yard\n",
  "orders.csv": "id,customer,total\n1,Berg,120\n2,Lien,80\n3,Berg,45\n4,Aziz,300\n",
  "drafts/letter.txt": "Dear Ms Moen,\nthe cabin is ready.\n",
  "drafts/old.txt": "Nothing of use.\n",
  "config.json": '{\n  "port": 8080,\n  "debug": true\n}\n',
};
const GRAPH: readonly Row[] = [
  { type: "entity", name: "Ada", entityType: "person", observations: ["keeps the ledger"] },
  { type: "entity", name: "Boris", entityType: "person", observations: ["left in March"] },
  { type: "entity", name: "Harbour office", entityType: "place", observations: ["opens in April"] },
  { type: "relation", from: "Ada", to: "Boris", relationType: "works_with" },
];
const SHOP = `
  CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, city TEXT);
  INSERT INTO customers VALUES (1, 'Berg', 'Oslo'), (2, 'Lien', 'Bergen'), (3, 'Aziz', 'Oslo');
  CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, total INTEGER, state TEXT);
  INSERT INTO orders VALUES (1, 1, 120, 'paid'), (2, 2, 80, 'open'), (3, 1, 45, 'open'), (4, 3, 300, 'paid');`;

export async function openWorld(): Promise<World> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "keyhole-eval-")));
  const path = (name: string) => join(folder, name);
  const git = (...args: string[]) => execFileSync("git", args, { cwd: path("repo"), encoding: "utf8" });
  const systems = await serveSystems();
  return {
    folder,
    servers: { ...programs(folder), ...systems.servers },
    reset: () => {
      for (const name of ["files", "repo", "memory"]) rmSync(path(name), { recursive: true, force: true });
      for (const [name, text] of Object.entries(FILES)) write(path(`files/${name}`), text);
      write(path("memory/graph.jsonl"), GRAPH.map((line) => JSON.stringify(line)).join("\n"));
      inDatabase(path("database/shop.db"), refillShop);
      fillRepository(path("repo"), git);
      systems.reset();
    },
    read: (name) => readIfThere(path(name)),
    graph: () =>
      (readIfThere(path("memory/graph.jsonl")) ?? "")
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Row),
    rows: (sql) => inDatabase(path("database/shop.db"), (database) => database.prepare(sql).all()),
    git,
    look: systems.look,
    close: async () => {
      await systems.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
}

function programs(folder: string): Record<string, EvalServer> {
  const own = (name: string, ...args: string[]) => ({
    command: process.execPath,
    args: [resolve("node_modules/.bin", `mcp-server-${name}`), ...args],
  });
  const git = installGitServer();
  if ("reason" in git) throw new Error(`The evaluation needs a git server. ${git.reason}`);
  return {
    files: own("filesystem", join(folder, "files")),
    memory: { ...own("memory"), env: { MEMORY_FILE_PATH: join(folder, "memory/graph.jsonl") } },
    sqlite: {
      command: process.execPath,
      args: [resolve(import.meta.dirname, "sqlite-server.ts"), join(folder, "database/shop.db")],
    },
    git: {
      command: process.execPath,
      args: [join(git.folder, "node_modules/.bin/git-mcp-server")],
      env: { GIT_BASE_DIR: join(folder, "repo"), MCP_LOG_LEVEL: "error", GIT_SIGN_COMMITS: "false" },
    },
  };
}

/** Three commits on main, a branch with one more, a tag, and a change that is not committed. */
function fillRepository(folder: string, git: World["git"]): void {
  mkdirSync(folder);
  git("init", "-q", "-b", "main");
  git("config", "user.name", "Eva Lind");
  git("config", "user.email", "eva@example.com");
  const commit = (message: string, file: string, text: string) => {
    write(join(folder, file), text);
    git("add", ".");
    git("commit", "-q", "-m", message);
  };
  commit("Add the sum", "sum.js", "export const sum = (a, b) => a + b;\n");
  commit("Describe the package", "README.md", "# Sums\n");
  git("tag", "v1");
  git("checkout", "-q", "-b", "difference");
  commit("Add the difference", "difference.js", "export const difference = (a, b) => a - b;\n");
  git("checkout", "-q", "main");
  commit("Round the sum", "sum.js", "export const sum = (a, b) => Math.round(a + b);\n");
  write(join(folder, "README.md"), "# Sums\n\nAdds and subtracts.\n");
}

/** Each system behind a server of its own. The gateways stay here, so that their state can be looked at. */
async function serveSystems() {
  const systems = createSystems();
  const gateways = new Map<string, Gateway>();
  const servers: Record<string, EvalServer> = {};
  const ends: (() => Promise<void>)[] = [];
  for (const { name, domains, sources, close } of systems) {
    const gateway = createGateway({ domains, sources, principal: PLAYGROUND });
    const server = createMcpServer(gateway, { surface: "native" });
    const http = await serveHttp(server, { port: 0, token: TOKEN });
    servers[name] = { url: http.url, headers: { authorization: `Bearer ${TOKEN}` } };
    gateways.set(name, gateway);
    ends.push(async () => {
      await http.close();
      await server.close();
      await gateway.close();
      await close();
    });
  }
  return {
    servers,
    reset: () => {
      for (const system of systems) system.reset();
    },
    look: async (op: string, params: object = {}) => {
      const [system = ""] = op.split(".");
      const { results } = await gateways.get(system)!.get({ routes: [{ route: op, params }] });
      const [result] = results;
      return JSON.stringify(result?.ok ? result.data.content : result);
    },
    close: () => Promise.all(ends.map((end) => end())),
  };
}

/** Loopback only, for the time of the evaluation. */
const TOKEN = "evaluation-on-this-machine-only";

/** The file stays, because a server has it open. */
function refillShop(database: DatabaseSync): void {
  for (const { name } of database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all())
    database.exec(`DROP TABLE "${name}"`);
  database.exec(SHOP);
}

function inDatabase<T>(path: string, use: (database: DatabaseSync) => T): T {
  mkdirSync(dirname(path), { recursive: true });
  const database = new DatabaseSync(path);
  try {
    return use(database);
  } finally {
    database.close();
  }
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
