// The whole system: a database, and the functions over it as two domains.
import { type DomainDefinition, defineDomain } from "keyhole";
import { fill, openDatabase } from "./database.ts";
import { KIND_NAMES, type Kind } from "./kinds.ts";
import { createWeb } from "./site/web.ts";
import { aboutTools } from "./tools/about-tools.ts";
import { documentTools } from "./tools/document-tools.ts";
import { edgeTools } from "./tools/edge-tools.ts";
import { projectTools } from "./tools/project-tools.ts";
import { getTool, listTool, searchAllTool, searchTool } from "./tools/read-tools.ts";
import { taskTools } from "./tools/task-tools.ts";
import { webTools } from "./tools/web-tools.ts";
import { createTool, deleteTool, updateTool } from "./tools/write-tools.ts";

export interface OntoOptions {
  /** The database file. Default: in memory. */
  readonly path?: string;
  /** The clock that dates writes. */
  readonly now?: () => Date;
}

export interface OntoSystem {
  readonly domains: readonly DomainDefinition[];
  /** Undoes every change. */
  reset(): void;
  close(): Promise<void>;
}

const SEARCHED: readonly Kind[] = ["task", "project", "document"];

export function createOnto({ path = ":memory:", now = () => new Date() }: OntoOptions = {}): OntoSystem {
  const database = openDatabase(path);
  const onto = { database, now };
  const web = createWeb();
  return {
    domains: [
      defineDomain({
        name: "onto",
        description:
          "Projects with their tasks, goals, plans, documents, milestones, risks and requirements.",
        rules: "Read before you write: search for the thing first, so that you do not make it twice.",
        tools: [
          ...KIND_NAMES.flatMap((kind) => [
            listTool(onto, kind),
            getTool(onto, kind),
            updateTool(onto, kind),
          ]),
          ...SEARCHED.map((kind) => searchTool(onto, kind)),
          searchAllTool(onto),
          ...(["goal", "plan"] as const).map((kind) => createTool(onto, kind)),
          ...(["task", "document", "goal", "plan"] as const).map((kind) => deleteTool(onto, kind)),
          ...taskTools(onto),
          ...projectTools(onto),
          ...documentTools(onto),
          ...edgeTools(onto),
        ],
      }),
      defineDomain({
        name: "util",
        description: "The web, field values, and how to use BuildOS.",
        tools: [...aboutTools(onto), ...webTools(web)],
      }),
    ],
    reset: () => fill(database),
    async close() {
      await web.close();
      database.close();
    },
  };
}
