import fc from "fast-check";
import { expect, test } from "vitest";
import { opFromName, opsFromNames } from "./op-name.ts";

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

/** Name and op in one line each, for servers whose other names tell the verb. */
const SERVERS: Record<string, string> = {
  "verbs that no table has, before nouns that follow other verbs": `
    ship_order sales.order.ship
    pay_order sales.order.pay
    get_order sales.order.get
    list_orders sales.order.list`,
  "nouns before their verbs": `
    order_ship sales.order.ship
    order_list sales.order.list
    order-cancel sales.order.cancel
    order_get_items sales.order.items.get
    task-create sales.task.create
    task-weigh sales.task.weigh`,
  "nouns that only follow several words": `
    weigh_parcel sales.parcel.weigh
    stamp_parcel sales.parcel.stamp
    stamp_crate sales.crate.stamp`,
  "a word that several others follow is a group": `
    browser_click sales.browser.click
    browser_hover sales.browser.hover
    browser_press_key sales.browser.press_key`,
  "names of things": `
    server_status sales.server_status
    weather_forecast sales.weather_forecast
    daily_standup sales.daily_standup`,
  "a clause goes with its verb": `
    get_user_by_name sales.user.get_by_name
    compare_file_with_branch sales.file.compare_with_branch
    findPetsByStatus sales.pets.find_by_status`,
  "a name alone": "ship_parcel sales.parcel.ship",
  "a thing alone": "ship_order sales.order.ship",
  "names that would share an op keep their words": `
    ship_order sales.ship_order
    order_ship sales.order_ship
    order_list sales.order.list`,
};

const pairsOf = (server: string) =>
  server
    .trim()
    .split("\n")
    .map((line) => line.trim().split(" ") as [name: string, op: string]);

test.each(Object.entries(SERVERS))("%s", (_, server) => {
  const pairs = pairsOf(server);
  const opsOf = (names: readonly string[]) => {
    const ops = opsFromNames(names, "sales");
    return names.toSorted().map((name) => [name, ops.get(name)?.op]);
  };
  const expected = pairs.toSorted(([one], [other]) => (one < other ? -1 : 1));
  const names = pairs.map(([name]) => name);
  expect(opsOf(names)).toEqual(expected);
  expect(opsOf(names.toReversed())).toEqual(expected);
});

const word = fc.constantFrom(
  ..."get list delete order orders ship pay parcel browser click task create comment run query with by status".split(
    " ",
  ),
);
const name = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join("_"));
const names = fc.uniqueArray(name, { minLength: 1, maxLength: 8 });

test("ops are unique and do not depend on the order of the names", () => {
  fc.assert(
    fc.property(names, (listed) => {
      const ops = opsFromNames(listed, "d");
      expect(new Set([...ops.values()].map(({ op }) => op)).size).toBe(listed.length);
      const reversed = opsFromNames(listed.toReversed(), "d");
      for (const each of listed) expect(reversed.get(each)).toEqual(ops.get(each));
    }),
  );
});

test("a tool with a noun of its own changes no op of the others", () => {
  const unrelated = fc.constantFrom("get_zebra", "list_zebras", "zebra_create", "feed_zebra", "zebra_walk");
  fc.assert(
    fc.property(names, unrelated, (listed, added) => {
      const before = opsFromNames(listed, "d");
      const after = opsFromNames([...listed, added], "d");
      for (const each of listed) expect(after.get(each)?.op).toBe(before.get(each)?.op);
    }),
  );
});

test("an op that other names change stays an address, unless two tools could have it", () => {
  fc.assert(
    fc.property(names, names, (listed, added) => {
      const before = opsFromNames(listed, "d");
      const after = opsFromNames([...new Set([...listed, ...added])], "d");
      const owners = (op: string) =>
        [...after].flatMap(([each, is]) => (is.op === op || is.addresses.includes(op) ? each : []));
      for (const [each, { op }] of before) {
        const isAmbiguous = [...after].some(
          ([other, is]) =>
            other !== each &&
            (is.op === op ||
              opsFromNames([other], "d").get(other)!.addresses.includes(op) ||
              opsFromNames([other], "d").get(other)!.op === op),
        );
        if (!isAmbiguous) expect(owners(op)).toEqual([each]);
        expect(owners(op).length).toBeLessThanOrEqual(1);
      }
    }),
    {
      examples: [
        [
          ["by_by", "by_parcel"],
          ["get_parcel", "get"],
        ],
      ],
    },
  );
});
