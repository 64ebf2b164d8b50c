/** A task of an agent, as a script. The number of its calls is counted when it runs. */
export interface Task {
  readonly name: string;
  readonly code: string;
}

/** Ops in the code stand for tools of servers, whose ops follow from their names. */
export const SERVER_TOOLS: Readonly<Record<string, string>> = {
  "files.text.file.read": "read_text_file",
  "memory.entities.create": "create_entities",
  "memory.relations.create": "create_relations",
  "memory.nodes.search": "search_nodes",
};

/** Tasks over the example systems and two servers from the registry, from three calls to forty. */
export const TASKS: readonly Task[] = [
  {
    name: "plans of two projects",
    code: `
      const { projects } = await tools.onto.project.list();
      const plans = await Promise.all(projects.slice(0, 2).map(({ id }) => tools.onto.plan.list({ project_id: id })));
      return plans.map(({ plans }) => plans.length);`,
  },
  {
    name: "risks by project",
    code: `
      const { projects } = await tools.onto.project.list();
      const all = await Promise.all(projects.map(({ id }) => tools.onto.risk.list({ project_id: id })));
      return projects.map(({ title }, at) => [title, all[at].risks.filter(({ impact }) => impact === "high").length]);`,
  },
  {
    name: "risks in full",
    code: `
      const { risks } = await tools.onto.risk.list();
      const full = await Promise.all(risks.map(({ id }) => tools.onto.risk.get({ risk_id: id })));
      return risks.map(({ title }, at) => title + ": " + Object.keys(full[at]).length);`,
  },
  {
    name: "late tasks",
    code: `
      const { tasks } = await tools.onto.task.list({ limit: 50 });
      const full = await Promise.all(tasks.map(({ id }) => tools.onto.task.get({ task_id: id })));
      return tasks.filter(({ due_at }, at) => due_at < "2026-03-20" && full[at]).map(({ id }) => id);`,
  },
  {
    name: "documents of tasks",
    code: `
      const { tasks } = await tools.onto.task.list({ limit: 50 });
      const found = await Promise.all(tasks.map(({ id }) => tools.onto.task.docs.list({ task_id: id })));
      return tasks.filter((_, at) => JSON.stringify(found[at]).includes("doc_")).map(({ id }) => id);`,
  },
  {
    name: "read all documents",
    code: `
      const { documents } = await tools.onto.document.list({ limit: 50 });
      const full = await Promise.all(documents.map(({ id }) => tools.onto.document.get({ document_id: id })));
      return documents.filter((_, at) => /limit/i.test(JSON.stringify(full[at]))).map(({ title }) => title);`,
  },
  {
    name: "images of pages",
    code: `
      const { pages } = await tools.cms.page.list({ limit: 50 });
      const each = await Promise.all(pages.map(({ slug }) => tools.cms.page.sections.get({ page: slug })));
      const used = new Set(each.flatMap(({ sections }) => sections.flatMap(({ images }) => Object.values(images ?? {}).flat())));
      return used.size;`,
  },
  {
    name: "unused images",
    code: `
      const { images } = await tools.cms.image.list({ limit: 100 });
      const { pages } = await tools.cms.page.list({ limit: 50 });
      const each = await Promise.all(pages.map(({ slug }) => tools.cms.page.sections.get({ page: slug })));
      const text = JSON.stringify(each);
      return images.filter(({ id }) => !text.includes(id)).map(({ id }) => id);`,
  },
  {
    name: "all sections of a site",
    code: `
      const { pages } = await tools.cms.page.list({ limit: 50 });
      const each = await Promise.all(pages.map(({ slug }) => tools.cms.page.sections.get({ page: slug })));
      const ids = each.flatMap(({ sections }) => sections.map(({ id }) => id)).slice(0, 30);
      const full = await Promise.all(ids.map((section) => tools.cms.section.content.get({ section })));
      return full.reduce((sum, content) => sum + JSON.stringify(content).length, 0);`,
  },
  {
    name: "create tasks",
    code: `
      const { projects } = await tools.onto.project.list();
      for (const { id, title } of projects)
        for (const what of ["Review", "Plan", "Report"]) await tools.onto.task.create({ project_id: id, title: what + " " + title });
      return "created";`,
  },
  {
    name: "search in files",
    code: `
      const names = Array.from({ length: 8 }, (_, at) => params.folder + "/note-" + at + ".txt");
      const texts = await Promise.all(names.map((path) => call("files.text.file.read", { path })));
      return names.filter((_, at) => JSON.stringify(texts[at]).includes("Friday")).length;`,
  },
  {
    name: "remember a team",
    code: `
      for (const name of ["Ann", "Bob", "Cid", "Dee", "Eve", "Fay", "Gus", "Hal"]) {
        await call("memory.entities.create", { entities: [{ name, entityType: "person", observations: ["met in Oslo"] }] });
        await call("memory.relations.create", { relations: [{ from: name, to: "Acme", relationType: "works at" }] });
      }
      return (await call("memory.nodes.search", { query: "Oslo" })).entities.length;`,
  },
];
