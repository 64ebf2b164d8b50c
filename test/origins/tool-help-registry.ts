// The functions of the document about tool help, as lists of chat tools, over a store in memory.
import {
  type CallContext,
  createGateway,
  type DomainDefinition,
  fromOpenAITools,
  type Gateway,
  type GatewayOptions,
} from "keyhole";
import { onTestFinished } from "vitest";

type Properties = Readonly<Record<string, object>>;

function chatTool(
  name: string,
  description: string,
  properties: Properties = {},
  required: readonly string[] = [],
) {
  const parameters = { type: "object", properties, required: [...required] };
  return { type: "function" as const, function: { name, description, parameters } };
}

const text = { type: "string" };
const found = { search: text, project_id: text, limit: { type: "integer", default: 10 } };
const KINDS = ["task", "goal", "document", "milestone", "risk", "requirement", "plan", "project"];

export const CREATE_TASK = `Create a task in a project.

Use when:
- User explicitly asks to create a task
- Future human action required

DO NOT create tasks for:
- Research/analysis requests you can do now
- Creating tasks to look helpful

Edge case: If ambiguous, ask 1 clarifying question or proceed without creating.
Prefer onto.task.update over a second task.`;

export const ONTOLOGY_READ_TOOLS = [
  ...KINDS.map((kind) =>
    chatTool(`list_onto_${kind}s`, `List ${kind}s.`, { project_id: text, limit: found.limit }),
  ),
  ...KINDS.map((kind) =>
    chatTool(`get_onto_${kind}_details`, `Get one ${kind}.`, { [`${kind}_id`]: text }, [`${kind}_id`]),
  ),
  ...["task", "project", "document"].map((kind) =>
    chatTool(`search_onto_${kind}s`, `Search ${kind}s.`, found, ["search"]),
  ),
  chatTool("search_ontology", "Search everything.", found, ["search"]),
  chatTool("get_onto_project_graph", "Get the graph of a project.", { project_id: text }, ["project_id"]),
  chatTool("get_document_tree", "Get the tree of documents.", {
    project_id: text,
    include_documents: { type: "boolean" },
  }),
  chatTool("get_document_path", "Get the path of a document.", { document_id: text }, ["document_id"]),
  chatTool("get_entity_relationships", "Get the relationships of an entity.", { entity_id: text }),
  chatTool("get_linked_entities", "Get the entities linked to one.", { entity_id: text }),
  chatTool("list_task_documents", "List the documents of a task.", { task_id: text }, ["task_id"]),
];

export const ONTOLOGY_WRITE_TOOLS = [
  chatTool("create_onto_task", CREATE_TASK, { project_id: text, title: text }, ["title"]),
  ...["goal", "plan", "document"].map((kind) =>
    chatTool(`create_onto_${kind}`, `Create a ${kind}.`, { title: text }),
  ),
  chatTool(
    "create_onto_project",
    "Create a project. Use when the user starts something new. Never create a project for a single task.",
    { title: text },
  ),
  ...KINDS.map((kind) =>
    chatTool(`update_onto_${kind}`, `Update a ${kind}.`, { [`${kind}_id`]: text, title: text }, [
      `${kind}_id`,
    ]),
  ),
  ...["task", "document", "goal", "plan"].map((kind) =>
    chatTool(`delete_onto_${kind}`, `Delete a ${kind}.`, { [`${kind}_id`]: text }, [`${kind}_id`]),
  ),
  chatTool("link_onto_entities", "Link two entities.", { from_id: text, to_id: text }),
  chatTool("unlink_onto_edge", "Remove a link.", { edge_id: text }),
  chatTool("move_document_in_tree", "Move a document in the tree.", {
    project_id: text,
    document_id: text,
    new_parent_id: text,
  }),
  chatTool("reorganize_onto_project_graph", "Reorganize the graph of a project.", { project_id: text }),
  chatTool("create_task_document", "Create a document in a task, or attach one.", { task_id: text }),
];

export const UTILITY_TOOL_DEFINITIONS = [
  chatTool("get_field_info", "Get the values of a field.", { entity: text }),
  chatTool("web_search", "Search the web.", { query: text }, ["query"]),
  chatTool("web_visit", "Visit a page.", { url: text }, ["url"]),
  chatTool("get_buildos_overview", "Get an overview of BuildOS."),
  chatTool("get_buildos_usage_guide", "Get the guide to BuildOS."),
];

/** The special cases of the document's classification. The other ops are derived from the names. */
const SPECIAL = {
  search_ontology: "onto.search",
  get_linked_entities: "onto.entity.links.get",
  list_task_documents: "onto.task.docs.list",
  create_task_document: "onto.task.doc.create_or_attach",
  link_onto_entities: "onto.edge.link",
};
const UTILITY = {
  get_field_info: "util.schema.field_info",
  get_buildos_overview: "util.buildos.overview",
  get_buildos_usage_guide: "util.buildos.usage_guide",
};

/** The tables of the command taxonomy: each op with its function. */
export const COMMANDS = {
  read: {
    "onto.task.list": "list_onto_tasks",
    "onto.goal.list": "list_onto_goals",
    "onto.document.list": "list_onto_documents",
    "onto.milestone.list": "list_onto_milestones",
    "onto.risk.list": "list_onto_risks",
    "onto.requirement.list": "list_onto_requirements",
    "onto.plan.list": "list_onto_plans",
    "onto.project.list": "list_onto_projects",
    "onto.task.docs.list": "list_task_documents",
    "onto.task.search": "search_onto_tasks",
    "onto.project.search": "search_onto_projects",
    "onto.document.search": "search_onto_documents",
    "onto.search": "search_ontology",
    "onto.project.get": "get_onto_project_details",
    "onto.project.graph.get": "get_onto_project_graph",
    "onto.task.get": "get_onto_task_details",
    "onto.goal.get": "get_onto_goal_details",
    "onto.plan.get": "get_onto_plan_details",
    "onto.document.get": "get_onto_document_details",
    "onto.milestone.get": "get_onto_milestone_details",
    "onto.risk.get": "get_onto_risk_details",
    "onto.requirement.get": "get_onto_requirement_details",
    "onto.document.tree.get": "get_document_tree",
    "onto.document.path.get": "get_document_path",
    "onto.entity.relationships.get": "get_entity_relationships",
    "onto.entity.links.get": "get_linked_entities",
    "util.schema.field_info": "get_field_info",
    "util.web.search": "web_search",
    "util.web.visit": "web_visit",
    "util.buildos.overview": "get_buildos_overview",
    "util.buildos.usage_guide": "get_buildos_usage_guide",
  },
  write: {
    "onto.task.create": "create_onto_task",
    "onto.goal.create": "create_onto_goal",
    "onto.plan.create": "create_onto_plan",
    "onto.document.create": "create_onto_document",
    "onto.project.create": "create_onto_project",
    "onto.task.doc.create_or_attach": "create_task_document",
    "onto.task.update": "update_onto_task",
    "onto.project.update": "update_onto_project",
    "onto.goal.update": "update_onto_goal",
    "onto.plan.update": "update_onto_plan",
    "onto.document.update": "update_onto_document",
    "onto.milestone.update": "update_onto_milestone",
    "onto.risk.update": "update_onto_risk",
    "onto.requirement.update": "update_onto_requirement",
    "onto.task.delete": "delete_onto_task",
    "onto.document.delete": "delete_onto_document",
    "onto.goal.delete": "delete_onto_goal",
    "onto.plan.delete": "delete_onto_plan",
    "onto.edge.link": "link_onto_entities",
    "onto.edge.unlink": "unlink_onto_edge",
    "onto.project.graph.reorganize": "reorganize_onto_project_graph",
    "onto.document.tree.move": "move_document_in_tree",
  },
} as const;

export type Execute = (name: string, args: Record<string, unknown>, context: CallContext) => unknown;

/** A store with one task and two documents. */
function createStore(): Execute {
  const things = new Map<string, Record<string, unknown>>([
    ["task_1", { id: "task_1", title: "Call the supplier" }],
    ["task_2", { id: "task_2", title: "Draw the logo" }],
    ["doc_api", { id: "doc_api", title: "API Spec" }],
    ["doc_engineering_folder", { id: "doc_engineering_folder", title: "Engineering" }],
  ]);
  let count = 0;
  return (name, args) => {
    const [verb, , kind = ""] = name.split("_");
    const prefix = kind.startsWith("task") ? "task" : kind.startsWith("document") ? "doc" : kind;
    const all = [...things.values()].filter(({ id }) => String(id).startsWith(prefix));
    const id = String(args[`${kind}_id`]);
    if (verb === "list" || verb === "search") {
      return { items: all.filter(({ title }) => String(title).includes(String(args.search ?? ""))) };
    }
    if (name === "get_document_tree") return { items: [...things.values()] };
    if (verb === "create") {
      const made = { id: `${prefix}_new_${++count}`, title: args.title };
      things.set(made.id, made);
      return made;
    }
    if (verb === "get" || verb === "update") return { ...things.get(id), ...args };
    if (verb === "delete") return { deleted: things.delete(id) };
    return { name, args };
  };
}

export function createDomains(changes: Partial<DomainDefinition> = {}): DomainDefinition[] {
  const execute = createStore();
  const onto = fromOpenAITools([...ONTOLOGY_READ_TOOLS, ...ONTOLOGY_WRITE_TOOLS], {
    name: "onto",
    description: "Projects, tasks, documents and their relations.",
    ops: SPECIAL,
    execute,
  });
  const util = fromOpenAITools(UTILITY_TOOL_DEFINITIONS, {
    name: "util",
    description: "Fields, the web, and how BuildOS works.",
    ops: UTILITY,
    execute,
  });
  return [{ ...onto, ...changes }, util];
}

/** A gateway that closes with its test. */
export function open(domains = createDomains(), options: Partial<GatewayOptions> = {}): Gateway {
  const principal = { id: "agent", scopes: [], allowWrite: true };
  const gateway = createGateway({ principal, learning: false, ...options, domains });
  onTestFinished(() => gateway.close());
  return gateway;
}
