// A planner's chat tools in the shape of those that the document about tool help was written for: one function for
// each action on each kind of thing, with long descriptions, and what people say when they need one. The texts are
// of our making.
import { type DomainDefinition, fromOpenAITools } from "keyhole";

const text = (description: string) => ({ type: "string", description });
const STATES: Readonly<Record<string, readonly string[]>> = {
  task: ["todo", "in_progress", "blocked", "done", "cancelled"],
  goal: ["draft", "active", "achieved", "abandoned"],
  plan: ["draft", "active", "completed"],
  document: ["draft", "review", "published", "archived"],
  project: ["planning", "active", "on_hold", "completed"],
  milestone: ["pending", "reached", "missed"],
  risk: ["identified", "mitigated", "occurred", "closed"],
  requirement: ["proposed", "accepted", "met"],
};
const KINDS = Object.keys(STATES);
const OWN_FIELDS: Readonly<Record<string, Readonly<Record<string, object>>>> = {
  task: {
    priority: { type: "integer", description: "1 to 5, 5 is the most urgent" },
    due_at: text("When it is due, ISO 8601"),
    assignee_id: text("Who works on it"),
  },
  goal: { target_date: text("When it should be achieved") },
  plan: { start_date: text("First day"), end_date: text("Last day") },
  document: { content: text("The text, as Markdown") },
  project: { facet_stage: text("Discovery, build or launch") },
  milestone: { due_at: text("The day of the milestone") },
  risk: { impact: { type: "string", enum: ["low", "medium", "high"] }, mitigation: text("What lowers it") },
  requirement: { acceptance: text("How it is checked") },
};

function chatTool(name: string, description: string, properties: object = {}, required: string[] = []) {
  return {
    type: "function" as const,
    function: { name, description, parameters: { type: "object", properties, required } },
  };
}

const idOf = (kind: string) => ({ [`${kind}_id`]: text(`Id of the ${kind}`) });
const stateOf = (kind: string) => ({ state_key: { type: "string", enum: STATES[kind] } });
const inProject = { project_id: text("Id of the project") };
const paged = { limit: { type: "integer", default: 20, description: "Most results" } };
const searched = { search: text("Words to look for"), ...inProject, ...paged };

const CREATE_TASK = `Create a new task in a project.

CREATE a task when:
- The user asks for a task, or to be reminded of something
- A person has to act at a later time

DO NOT create a task when:
- You can do the work now, such as research or a summary
- A task for it exists: update that one instead

Say in the title what is to be done. Set the state only if the user tells it.`;

export const PLANNER_TOOLS = [
  ...KINDS.map((kind) =>
    chatTool(
      `list_onto_${kind}s`,
      `List ${kind}s, newest first, with id, title, state and dates. Filter by project or state. Use it to see which ${kind}s there are before you work on one.`,
      { ...(kind === "project" ? {} : inProject), ...stateOf(kind), ...paged },
    ),
  ),
  ...KINDS.map((kind) =>
    chatTool(
      `get_onto_${kind}_details`,
      `Get everything about one ${kind}: its full text, state, dates, people and properties. Use it after a list or a search has given the id.`,
      idOf(kind),
      [`${kind}_id`],
    ),
  ),
  ...["task", "project", "document"].map((kind) =>
    chatTool(
      `search_onto_${kind}s`,
      `Search ${kind}s by words in their title and text. Use it if the user names a ${kind} and you do not have its id.`,
      searched,
      ["search"],
    ),
  ),
  chatTool(
    "search_ontology",
    "Search all kinds of things at once: tasks, goals, plans, documents, projects, milestones, risks and requirements. Use it if you do not know what kind of thing the user means.",
    searched,
    ["search"],
  ),
  chatTool(
    "get_onto_project_graph",
    "Get the whole graph of a project: its goals, plans, tasks, documents and the edges between them.",
    inProject,
    ["project_id"],
  ),
  chatTool(
    "get_document_tree",
    "Get the documents of a project as a tree of folders, with titles and ids.",
    { ...inProject, include_documents: { type: "boolean", description: "Also documents outside the tree" } },
    ["project_id"],
  ),
  chatTool(
    "get_document_path",
    "Get the breadcrumb path of a document from the root of the tree.",
    idOf("document"),
    ["document_id"],
  ),
  chatTool(
    "get_entity_relationships",
    "Get the edges of a thing: what it depends on, belongs to or supports.",
    { entity_id: text("Id of anything"), direction: { type: "string", enum: ["in", "out", "both"] } },
    ["entity_id"],
  ),
  chatTool(
    "get_linked_entities",
    "Get the things that are linked to one, with their titles and kinds.",
    { entity_id: text("Id of anything"), kind: { type: "string", enum: KINDS } },
    ["entity_id"],
  ),
  chatTool("list_task_documents", "List the documents in the workspace of a task.", idOf("task"), [
    "task_id",
  ]),
  chatTool(
    "create_onto_task",
    CREATE_TASK,
    { ...inProject, title: text("What is to be done"), ...stateOf("task"), ...OWN_FIELDS.task },
    ["project_id", "title"],
  ),
  ...["goal", "plan", "document"].map((kind) =>
    chatTool(
      `create_onto_${kind}`,
      `Create a new ${kind} in a project. Search first, so that there are no two of the same.`,
      { ...inProject, title: text("Its title"), ...stateOf(kind), ...OWN_FIELDS[kind] },
      ["project_id", "title"],
    ),
  ),
  chatTool(
    "create_onto_project",
    "Create a project with its first goals, plans and tasks. Use it if the user begins something new. Do not create a project for a single task.",
    {
      title: text("Its title"),
      entities: { type: "array", description: "Goals, plans and tasks to begin with" },
    },
    ["title"],
  ),
  ...KINDS.map((kind) =>
    chatTool(
      `update_onto_${kind}`,
      `Update an existing ${kind}. Only the fields that you give are written: title, description, state and the others of its schema.`,
      { ...idOf(kind), title: text("The new title"), ...stateOf(kind), ...OWN_FIELDS[kind] },
      [`${kind}_id`],
    ),
  ),
  ...["task", "document", "goal", "plan"].map((kind) =>
    chatTool(
      `delete_onto_${kind}`,
      `Delete a ${kind} for good, with its edges. A done or cancelled ${kind} need not be deleted. This cannot be undone.`,
      idOf(kind),
      [`${kind}_id`],
    ),
  ),
  chatTool(
    "link_onto_entities",
    "Link two things by an edge, such as a task that supports a goal or depends on another task.",
    { from_id: text("Id"), to_id: text("Id"), rel: text("The kind of edge") },
    ["from_id", "to_id", "rel"],
  ),
  chatTool("unlink_onto_edge", "Remove the edge between two things.", { edge_id: text("Id of the edge") }, [
    "edge_id",
  ]),
  chatTool(
    "move_document_in_tree",
    "Move a document below another folder or to another position in the document tree.",
    {
      ...inProject,
      ...idOf("document"),
      new_parent_id: text("The folder"),
      new_position: { type: "integer" },
    },
    ["project_id", "document_id"],
  ),
  chatTool(
    "reorganize_onto_project_graph",
    "Reorganize the graph of a project: replaces the edges of many things at once. Edges that are not given are removed.",
    { ...inProject, nodes: { type: "array" } },
    ["project_id", "nodes"],
  ),
  chatTool(
    "create_task_document",
    "Create a document in the workspace of a task, or attach one that exists.",
    { ...idOf("task"), ...idOf("document"), title: text("Title of a new document") },
    ["task_id"],
  ),
  chatTool("get_field_info", "Get the fields of a kind of thing with their types and allowed values.", {
    entity_type: { type: "string", enum: KINDS },
  }),
  chatTool("web_search", "Search the web for current information.", { query: text("What to search") }, [
    "query",
  ]),
  chatTool("web_visit", "Fetch a web page and return its text.", { url: text("Its address") }, ["url"]),
  chatTool("get_buildos_overview", "Get an overview of the product and what it can do."),
  chatTool(
    "get_buildos_usage_guide",
    "Get the guide that explains how to work with the product step by step.",
  ),
];

/** What people say, and the functions that do it, the first being the one that is meant. */
export const PLANNER_NEEDS: readonly (readonly [need: string, ...functions: string[]])[] = [
  ["mark task as done", "update_onto_task"],
  ["what tasks are still open", "list_onto_tasks"],
  ["set the priority of the login task to high", "update_onto_task"],
  ["assign the task to Mia", "update_onto_task"],
  ["close the risk about the supplier", "update_onto_risk"],
  ["move the deadline of the beta milestone to Friday", "update_onto_milestone"],
  ["rename the project to Northwind", "update_onto_project"],
  ["put the project on hold", "update_onto_project"],
  ["remind me to call the supplier tomorrow", "create_onto_task"],
  ["add a goal: ten paying customers", "create_onto_goal"],
  ["get rid of the old spec document", "delete_onto_document"],
  ["delete this task", "delete_onto_task"],
  ["show me everything about the launch plan", "get_onto_plan_details"],
  ["which risks have a high impact", "list_onto_risks"],
  ["find the document about pricing", "search_onto_documents"],
  ["where in the tree is this document", "get_document_path"],
  ["show the folder structure of our docs", "get_document_tree"],
  ["put the API spec under Engineering", "move_document_in_tree"],
  ["make this task depend on the design task", "link_onto_entities"],
  ["remove the link between the goal and the plan", "unlink_onto_edge"],
  ["what is linked to this goal", "get_linked_entities", "get_entity_relationships"],
  ["start a new project for the website relaunch", "create_onto_project"],
  ["write down the meeting notes as a document", "create_onto_document"],
  ["attach the brief to the task", "create_task_document"],
  ["which documents belong to this task", "list_task_documents"],
  ["the requirement is met now", "update_onto_requirement"],
  ["accept the requirement about offline mode", "update_onto_requirement"],
  ["we reached the alpha milestone", "update_onto_milestone"],
  ["complete the onboarding task", "update_onto_task"],
  ["postpone the task to next week", "update_onto_task"],
  ["change the goal's target date", "update_onto_goal"],
  ["mark the goal as achieved", "update_onto_goal"],
  ["publish the document", "update_onto_document"],
  ["archive the document", "update_onto_document"],
  ["set the document to review", "update_onto_document"],
  ["fix a typo in the spec document", "update_onto_document"],
  ["activate the plan", "update_onto_plan"],
  ["mark the risk as mitigated", "update_onto_risk"],
  ["reassign this task to another person", "update_onto_task"],
  ["list all goals", "list_onto_goals"],
  ["how is the project doing", "get_onto_project_details", "get_onto_project_graph"],
  ["show me the whole graph of the project", "get_onto_project_graph"],
  ["which milestones come next", "list_onto_milestones"],
  ["search everything for Acme", "search_ontology"],
  ["find my project about maps", "search_onto_projects"],
  ["is there already a task for the invoice", "search_onto_tasks", "list_onto_tasks"],
  ["make a plan for the launch", "create_onto_plan"],
  ["throw the plan away", "delete_onto_plan"],
  ["erase the goal completely", "delete_onto_goal"],
  ["which values can the state of a task have", "get_field_info"],
  ["look up the current exchange rate on the internet", "web_search"],
  ["read this web page", "web_visit"],
  ["what can this product do", "get_buildos_overview"],
  ["how do I work with it, step by step", "get_buildos_usage_guide"],
  ["clean up the project graph", "reorganize_onto_project_graph"],
  ["set the task to blocked", "update_onto_task"],
];

/** The tools as two domains, in the way that the document groups them. */
export function plannerDomains(): DomainDefinition[] {
  const isUtility = ({ function: { name } }: (typeof PLANNER_TOOLS)[number]) =>
    /^web_|buildos|field/.test(name);
  const execute = () => "";
  return [
    fromOpenAITools(
      PLANNER_TOOLS.filter((tool) => !isUtility(tool)),
      { name: "onto", description: "Projects, tasks, documents and their relations.", execute },
    ),
    fromOpenAITools(PLANNER_TOOLS.filter(isUtility), {
      name: "util",
      description: "Fields, the web, and how the product works.",
      execute,
    }),
  ];
}
