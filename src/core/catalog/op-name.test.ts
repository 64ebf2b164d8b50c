import fc from "fast-check";
import { expect, test } from "vitest";
import { opFromName } from "./op-name.ts";

const OPS: Record<string, string> = {
  list_onto_tasks: "onto.task.list",
  list_onto_goals: "onto.goal.list",
  list_onto_documents: "onto.document.list",
  list_onto_milestones: "onto.milestone.list",
  list_onto_risks: "onto.risk.list",
  list_onto_requirements: "onto.requirement.list",
  list_onto_plans: "onto.plan.list",
  list_onto_projects: "onto.project.list",
  search_onto_tasks: "onto.task.search",
  search_onto_projects: "onto.project.search",
  search_onto_documents: "onto.document.search",
  get_onto_project_details: "onto.project.get",
  get_onto_project_graph: "onto.project.graph.get",
  get_onto_task_details: "onto.task.get",
  get_onto_goal_details: "onto.goal.get",
  get_onto_plan_details: "onto.plan.get",
  get_onto_document_details: "onto.document.get",
  get_onto_milestone_details: "onto.milestone.get",
  get_onto_risk_details: "onto.risk.get",
  get_onto_requirement_details: "onto.requirement.get",
  get_document_tree: "onto.document.tree.get",
  get_document_path: "onto.document.path.get",
  get_entity_relationships: "onto.entity.relationships.get",
  create_onto_task: "onto.task.create",
  create_onto_goal: "onto.goal.create",
  create_onto_plan: "onto.plan.create",
  create_onto_document: "onto.document.create",
  create_onto_project: "onto.project.create",
  update_onto_task: "onto.task.update",
  update_onto_milestone: "onto.milestone.update",
  update_onto_requirement: "onto.requirement.update",
  delete_onto_task: "onto.task.delete",
  delete_onto_document: "onto.document.delete",
  unlink_onto_edge: "onto.edge.unlink",
  reorganize_onto_project_graph: "onto.project.graph.reorganize",
  move_document_in_tree: "onto.document.tree.move",
  web_search: "util.web.search",
  web_visit: "util.web.visit",
};

test.each(Object.entries(OPS))("%s is %s", (name, op) => {
  expect(opFromName(name, op.split(".")[0]!)).toBe(op);
});

test.each([
  ["cms_getPage", "cms", "cms.page.get"],
  ["search_notes", "notes", "notes.note.search"],
  ["web_search", "web", "web.search"],
  ["createIssue", "github", "github.issue.create"],
  ["list_entries", "cms", "cms.entry.list"],
  ["list_statuses", "hr", "hr.status.list"],
  ["sequential-thinking", "mind", "mind.sequential_thinking"],
  ["github", "github", "github.github"],
  ["delete", "db", "db.delete"],
  ["constructor", "db", "db.constructor"],
  ["查询天气", "weather", "weather.查询天气"],
])("%s in %s is %s", (name, domain, op) => {
  expect(opFromName(name, domain)).toBe(op);
});

test("names that every object has are names like any other", () => {
  expect(opFromName("constructor", "constructor")).toBe("constructor.constructor");
  expect(opFromName("name", "constructor")).toBe("constructor.name");
});

test("any name gives an op of its domain, or none", () => {
  fc.assert(
    fc.property(fc.string(), (name) => {
      const op = opFromName(name, "d");
      if (op !== undefined) expect(op).toMatch(/^d(\.[\p{L}\p{N}\p{M}_]+)+$/u);
    }),
  );
});
