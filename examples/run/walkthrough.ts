// A script over many tools: its plan shows every change, a person approves it as a whole, and it is performed. Another
// script is kept as a tool of its own.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ApprovalRequest, createGateway, defineDomain, defineTool, type Principal } from "keyhole";
import { z } from "zod";
import { createOnto } from "../onto/onto.ts";
import { heading, quote } from "../print.ts";

const editor: Principal = { id: "eva", scopes: [], allowWrite: true };
const sent: string[] = [];
const mail = defineDomain({
  name: "mail",
  description: "Letters to the people of a project.",
  tools: [
    defineTool({
      name: "send_reminder",
      op: "mail.reminder.send",
      description: "Send a reminder of a task.",
      lane: "write",
      requiresConfirmation: true,
      inputSchema: z.object({ task: z.string() }),
      execute: ({ task }) => ({ sent: sent.push(task) }),
      dryRun: ({ task }) => `would remind everybody of ${task}`,
    }),
  ],
});
const onto = createOnto({ now: () => new Date("2026-03-09T10:00:00Z") });
const recipes = mkdtempSync(join(tmpdir(), "keyhole-recipes-"));
const gateway = createGateway({ domains: [...onto.domains, mail], principal: editor, recipes });

heading("1. Nineteen calls in one, and only the conclusion is shown");
const late = await gateway.run({
  code: `
    const { tasks } = await tools.onto.task.list({ limit: 50 });
    const full = await Promise.all(tasks.map(({ id }) => tools.onto.task.get({ task_id: id })));
    log(full.length, "tasks read");
    return tasks.filter(({ due_at }) => due_at < "2026-03-20").map(({ title }) => title);`,
});
quote(late.text);
assert.equal(late.calls, 19);

heading("2. A dry run changes nothing and lists every effect with its exact arguments");
const code = `
  const { tasks } = await tools.onto.task.list({ limit: 50 });
  for (const { title, due_at } of tasks)
    if (due_at < "2026-03-20") await tools.mail.reminder.send({ task: title });
  return "everybody knows";`;
const dry = await gateway.run({ code, dryRun: true });
quote(dry.text);
assert.ok(dry.plan && dry.effects.length === 3);
assert.deepEqual(sent, []);

heading("3. A person is asked once about the whole plan, and exactly its effects take place");
const questions: ApprovalRequest[] = [];
const approve = (question: ApprovalRequest) => questions.push(question) > 0;
const real = await gateway.run({ plan: dry.plan.handle }, { approve });
quote(`${questions[0]?.op}: ${JSON.stringify(questions[0]?.args)}\n${real.text}`);
assert.ok(real.ok && questions.length === 1 && questions[0]?.hash === dry.plan.hash);
assert.equal(sent.length, 3);

heading("4. Performing it again repeats the answer, and no effect");
const again = await gateway.run({ plan: dry.plan.handle });
assert.deepEqual(again.effects, real.effects);
assert.equal(sent.length, 3);
quote(again.text);

heading("5. A script that went well is kept as a tool: a Markdown file that ask finds and exec runs");
const kept = await gateway.run({
  code: `
    const { tasks } = await tools.onto.task.list({ limit: 50 });
    return tasks.filter(({ due_at }) => due_at < params.before).map(({ title }) => title);`,
  params: { before: "2026-03-20" },
  keep: {
    name: "late-tasks",
    description: "Lists the tasks that are due before a day.",
    params: { before: { type: "string", description: "A day, such as 2026-03-20" } },
  },
});
quote(kept.text);
assert.ok(kept.kept?.lane === "read");
quote(readFileSync(join(recipes, kept.kept.file), "utf8"));
// A person has to agree to what a model keeps: `keyhole approve recipes` asks.
await gateway.pins.approve("all");
const found = await gateway.ask({ query: "which tasks are due before a day?" });
assert.ok(found.hits.some(({ op }) => op === "recipes.late-tasks"));
const ran = await gateway.exec({ op: "recipes.late-tasks", args: { before: "2026-03-13" } });
quote(ran.text);
assert.ok(ran.ok && Array.isArray(ran.result) && ran.result.length < 3);

await gateway.close();
rmSync(recipes, { recursive: true });
