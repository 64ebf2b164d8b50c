import { answerIn, answers, change, type EvalCall, look, type Task, unless, writeTo } from "./task.ts";

/** Tasks over the four systems of the playground, and over several servers at once. */
export function playgroundTasks(folder: string): Task[] {
  return [
    ...ontoTasks(folder),
    ...cmsTasks(),
    ...warehouseTasks(folder),
    ...libraryTasks(folder),
    ...crossTasks(folder),
  ];
}

function ontoTasks(folder: string): Task[] {
  const write = (tool: string, find: string, args: object) =>
    change("onto", `onto_${tool}`, find, { ...args });
  const search = (words: string) =>
    look("onto", "onto_search", "search projects and tasks", { search: words });
  return [
    {
      id: "onto-create",
      prompt: 'Create a task "Check the tile cache" in the project Atlas.',
      check: async (world) =>
        unless(
          (await world.look("onto.task.list", { project_id: "prj_atlas" })).includes(
            '"Check the tile cache"',
          ),
          "there is no such task",
        ),
      solution: [
        search("Atlas"),
        write("task_create", "create a task", { project_id: "prj_atlas", title: "Check the tile cache" }),
      ],
    },
    {
      id: "onto-done",
      prompt: 'Mark the task "Review the API Spec" as done.',
      check: async (world) =>
        unless(
          /"state_key":"done"/.test(await world.look("onto.task.get", { task_id: "task_review_spec" })),
          "the task is not done",
        ),
      solution: [
        search("Review the API Spec"),
        write("task_update", "change a task", { task_id: "task_review_spec", state_key: "done" }),
      ],
    },
    {
      id: "onto-delete",
      prompt: 'Delete the task "Compare prices of other map APIs".',
      check: async (world) =>
        unless(
          !(await world.look("onto.task.list", { project_id: "prj_atlas" })).includes("Compare prices"),
          "the task is still there",
        ),
      solution: [
        search("Compare prices"),
        write("task_delete", "delete a task", { task_id: "task_pricing" }),
      ],
    },
    {
      id: "onto-milestone",
      prompt: 'Move the milestone "Public launch" of the project Atlas to 2026-06-01.',
      check: async (world) =>
        unless(
          /2026-06-01/.test(await world.look("onto.milestone.get", { milestone_id: "ms_go_live" })),
          "the day is another one",
        ),
      solution: [
        look("onto", "onto_milestone_list", "list milestones of a project", { project_id: "prj_atlas" }),
        write("milestone_update", "change a milestone", { milestone_id: "ms_go_live", due_at: "2026-06-01" }),
      ],
    },
    {
      id: "onto-document",
      prompt: 'Add a document "Parking" to the project "Harbour move", with the text "In the basement."',
      check: async (world) => {
        const documents = await world.look("onto.document.search", { search: "Parking" });
        return unless(
          /prj_harbour/.test(documents) && /"Parking"/.test(documents),
          "there is no such document",
        );
      },
      solution: [
        search("Harbour move"),
        write("document_create", "create a document", {
          project_id: "prj_harbour",
          title: "Parking",
          content: "In the basement.",
        }),
      ],
    },
    {
      id: "onto-answer",
      prompt: `Which task of the project "Harbour move" is blocked? ${writeTo(folder)} Its title is enough.`,
      check: answers("Hand over the old office"),
      solution: [
        look("onto", "onto_task_list", "list tasks of a project", {
          project_id: "prj_harbour",
          state_key: "blocked",
        }),
        answerIn(folder, "Hand over the old office"),
      ],
    },
  ];
}

function cmsTasks(): Task[] {
  const write = (tool: string, find: string, args: object) => change("cms", `cms_${tool}`, find, { ...args });
  return [
    {
      id: "cms-publish",
      prompt: 'Publish the post "Slate or steel" on the website.',
      check: async (world) =>
        unless(
          /"status":"published"/.test(await world.look("cms.post.get", { post: "post_slate-or-steel" })),
          "the post is not published",
        ),
      solution: [
        look("cms", "cms_post_list", "list blog posts", { status: "draft" }),
        write("post_publish", "publish a post", { post: "post_slate-or-steel" }),
      ],
    },
    {
      id: "cms-page",
      prompt: 'Create an empty page "Awards" on the website.',
      check: async (world) =>
        unless(/"Awards"/.test(await world.look("cms.page.list", { limit: 50 })), "there is no such page"),
      solution: [write("page_create", "create a page", { name: "Awards" })],
    },
    {
      id: "cms-menu",
      prompt: 'Hide "Journal" in the navigation menu of the website, without removing it.',
      check: async (world) => {
        const menu = await world.look("cms.navigation.get");
        return unless(/"nav_journal"[^}]*"visible":false/.test(menu), "the item is not hidden");
      },
      solution: [
        look("cms", "cms_navigation_get", "the navigation menu"),
        write("navigation_item_toggle", "hide an item of the menu", { item: "nav_journal", visible: false }),
      ],
    },
    {
      id: "cms-heading",
      prompt: 'Change the heading of the hero on the home page to "Houses that stand in snow".',
      check: async (world) =>
        unless(
          /Houses that stand in snow/.test(
            await world.look("cms.section.content.get", { section: "sec_home-hero" }),
          ),
          "the heading is another one",
        ),
      solution: [
        look("cms", "cms_page_sections_get", "sections of a page", { page: "home" }),
        write("section_content_update", "change the text of a section", {
          section: "sec_home-hero",
          content: { heading: "Houses that stand in snow" },
        }),
      ],
    },
    {
      id: "cms-archive",
      prompt: 'Archive the post "Wool in walls".',
      check: async (world) =>
        unless(
          /"status":"archived"/.test(await world.look("cms.post.get", { post: "post_wool-in-walls" })),
          "the post is not archived",
        ),
      solution: [write("post_archive", "archive a post", { post: "post_wool-in-walls" })],
    },
    {
      id: "cms-delete",
      prompt: "Delete the page Press from the website.",
      check: async (world) =>
        unless(
          !/"page_press"/.test(await world.look("cms.page.list", { limit: 50 })),
          "the page is still there",
        ),
      solution: [
        look("cms", "cms_page_get", "get a page", { page: "press" }),
        write("page_delete", "delete a page", { page: "page_press" }),
      ],
    },
  ];
}

function warehouseTasks(folder: string): Task[] {
  return [
    {
      id: "warehouse-log",
      prompt: `From which country came the transfer that the logs say was refused? ${writeTo(folder)} Two letters.`,
      check: answers("PA"),
      solution: [
        look("warehouse", "logs_search-logs", "search log events", { search: "refused" }),
        answerIn(folder, "PA"),
      ],
    },
    {
      id: "warehouse-ticket",
      prompt: `What does the support ticket of the customer u-2001 say? ${writeTo(folder)} Word for word.`,
      check: answers("The lamp arrived broken"),
      solution: [
        look("warehouse", "support_list-tickets", "support tickets of a customer", { user_id: "u-2001" }),
        answerIn(folder, "The lamp arrived broken."),
      ],
    },
    {
      id: "warehouse-table",
      prompt: `Which table of the warehouse has the transfers out of customers' accounts? ${writeTo(folder)}`,
      check: answers("fact_transfers"),
      solution: [
        look("warehouse", "warehouse_analyst", "analyse transfers", { query: "transfers" }),
        answerIn(folder, "fact_transfers"),
      ],
    },
  ];
}

function libraryTasks(folder: string): Task[] {
  const read = (uri: string, name: string, find: string): EvalCall => ({
    server: "library",
    tool: "read_resource",
    args: { server: "library", uri: `library://resources/${uri}` },
    reads: true,
    address: `library://resources/${name}`,
    find,
  });
  return [
    {
      id: "library-retry",
      prompt: `The library has a pattern about retries with backoff. How many calls do three layers with three tries make, by it? ${writeTo(folder)} As a number.`,
      check: answers("27"),
      solution: [
        read("patterns/retry-backoff", "Retry-with-backoff", "retry with backoff"),
        answerIn(folder, "27"),
      ],
    },
    {
      id: "library-budget",
      prompt: `How many minutes a month does an objective of 99.9 % allow, by the guide on service level objectives in the library? ${writeTo(folder)} As a number.`,
      check: answers("43"),
      solution: [
        read("guides/service-level-objectives", "Service-level-objectives", "service level objectives"),
        answerIn(folder, "43"),
      ],
    },
    {
      id: "library-time",
      prompt: `In what is an instant stored, by the guide on time zones in the library? ${writeTo(folder)} One word.`,
      check: answers("UTC"),
      solution: [read("guides/time-zones", "Time-and-time-zones", "time zones"), answerIn(folder, "UTC")],
    },
  ];
}

function crossTasks(folder: string): Task[] {
  return [
    {
      id: "cross-customers",
      prompt:
        'For each customer from Oslo in the database, create an entity of type "customer" with that name in the knowledge graph.',
      check: (world) => {
        const names = world
          .graph()
          .filter(({ entityType }) => entityType === "customer")
          .map(({ name }) => name);
        return unless(names.sort().join() === "Aziz,Berg", `the graph has the customers ${names.join(", ")}`);
      },
      solution: [
        look("sqlite", "read_query", "run a SELECT in the database", {
          query: "SELECT name FROM customers WHERE city = 'Oslo'",
        }),
        change("memory", "create_entities", "create entities in the knowledge graph", {
          entities: ["Berg", "Aziz"].map((name) => ({ name, entityType: "customer", observations: [] })),
        }),
      ],
    },
    {
      id: "cross-release",
      prompt: `Tag the last commit of main in the repository ${folder}/repo as "v2", and create a task "Announce v2" in the project Atlas.`,
      check: async (world) => {
        const tasks = await world.look("onto.task.list", { project_id: "prj_atlas" });
        return unless(
          world.git("tag", "--list", "v2").trim() === "v2" && tasks.includes('"Announce v2"'),
          "the tag or the task is missing",
        );
      },
      solution: [
        change("git", "git_tag", "create a tag", { path: `${folder}/repo`, mode: "create", tagName: "v2" }),
        change("onto", "onto_task_create", "create a task", {
          project_id: "prj_atlas",
          title: "Announce v2",
        }),
      ],
    },
    {
      id: "cross-report",
      prompt: `How many posts of the website are drafts, and how many orders of the database are open? ${writeTo(folder)} As two numbers with a comma between them.`,
      check: (world) =>
        unless(
          /^4,\s*2\.?$/.test(world.read("files/answer.txt")?.trim() ?? ""),
          "answer.txt has other numbers",
        ),
      solution: [
        look("cms", "cms_post_list", "list blog posts", { status: "draft" }),
        look("sqlite", "read_query", "run a SELECT in the database", {
          query: "SELECT COUNT(*) FROM orders WHERE state = 'open'",
        }),
        answerIn(folder, "4, 2"),
      ],
    },
  ];
}
