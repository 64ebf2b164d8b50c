// An agent works on projects: it explores, moves a document, and recovers from every kind of error.
import assert from "node:assert/strict";
import { type ApprovalRequest, createGateway, type Principal } from "keyhole";
import { heading, quote } from "../print.ts";
import type { TreeNode } from "./document-tree.ts";
import type { Line } from "./entities.ts";
import { createOnto } from "./onto.ts";

const editor: Principal = { id: "eva", scopes: [], allowWrite: true };
const reader: Principal = { id: "rob", scopes: [], allowWrite: false };
const onto = createOnto({ now: () => new Date("2026-03-09T10:00:00Z") });
const gateway = createGateway({ domains: onto.domains, principal: editor });

heading("1. The overview leads on, with the params filled in");
const overview = await gateway.exec({ op: "util.buildos.overview" });
quote(overview.text);
assert.ok(overview.ok);
const next = overview.guidance?.find(({ route }) => route === "onto://tools/task/list");
const { tasks } = await run<{ tasks: Line[] }>(next!.route, { ...next!.params });
assert.ok(tasks.every(({ state_key }) => state_key === "blocked"));

heading('2. "Move the API Spec under Engineering": find the document');
const { documents } = await run<{ documents: Line[] }>("onto.document.search", {
  search: "API Spec",
  limit: 10,
});
assert.equal(documents.length, 1);
const { id: document_id, project_id } = documents[0]!;

heading("3. help explains how to move it");
const help = await gateway.help({ path: "onto.document.tree.move", format: "short" });
quote(help.text);
assert.ok(help.kind === "tool" && help.lane === "write");
assert.deepEqual(
  help.args.map((arg) => arg.name),
  ["project_id", "document_id", "new_parent_id"],
);

heading("4. Read the tree to find the folder");
const engineering = childIn(await readTree(), "Engineering");
assert.ok(engineering);
const move = { project_id, document_id, new_parent_id: engineering.id };

heading("5. A read-only caller is refused, and nothing moves");
await refused("PERMISSION_DENIED", "onto.document.tree.move", move, reader);
assert.ok(childIn(childIn(await readTree(), "Marketing")?.children, "API Spec"));

heading("6. The answer to wrong args has everything needed to correct them");
const { new_parent_id: new_parent, ...rest } = move;
const wrong = await refused("INVALID_PARAMS", "onto.document.tree.move", { ...rest, new_parent });
assert.equal(wrong.helpPath, "onto.document.tree.move");
const fieldErrors = wrong.details.fieldErrors ?? [];
assert.ok(fieldErrors.some((error) => error.field === "new_parent" && error.nearest === "new_parent_id"));

heading("7. Move it, and read the tree again");
await run("onto.document.tree.move", move);
const moved = await readTree();
assert.ok(childIn(childIn(moved, "Engineering")?.children, "API Spec"), "it is under Engineering");
assert.ok(!childIn(childIn(moved, "Marketing")?.children, "API Spec"), "and no longer under Marketing");

heading("8. Cycles are refused: a folder inside itself, a task that waits for itself");
const loop = { project_id, document_id: engineering.id, new_parent_id: document_id };
await refused("CONFLICT", "onto.document.tree.move", loop);
const circle = { from_id: "task_cache", rel: "depends_on", to_id: "task_load_test" };
await refused("CONFLICT", "onto.edge.link", circle);

heading("9. An update of an outdated version is refused with the current one");
const update = { task_id: "task_cache", expected_version: 1 };
await run("onto.task.update", { ...update, state_key: "in_progress" });
const stale = await refused("CONFLICT", "onto.task.update", { ...update, priority: 1 });
assert.partialDeepStrictEqual(stale.details, { current: { version: 2, state_key: "in_progress" } });

heading("10. A destructive call runs dry until a person approves it, and the dry run predicts the real one");
const deletion = { op: "onto.document.delete", args: { document_id: "doc_adr" } };
const dry = await gateway.exec(deletion);
quote(dry.text);
assert.ok(dry.ok && dry.meta.dryRun);
assert.deepEqual(await readTree(), moved);
const graph = {
  project_id,
  nodes: [{ id: "task_cache", connections: [{ rel: "part_of", to_id: "plan_beta" }] }],
};
const plan = await gateway.exec({ op: "onto.project.graph.reorganize", args: graph });
quote(plan.text);
assert.ok(plan.ok && plan.meta.dryRun);
const approve = ({ op }: ApprovalRequest) => op === "onto.project.graph.reorganize";
const applied = await gateway.exec({ op: "onto.project.graph.reorganize", args: graph }, { approve });
assert.ok(applied.ok);
assert.deepEqual(applied.result, plan.result);

heading("11. The first use of a tool in one round trip: help, search, and a call with the result");
const batch = await gateway.batch({
  requests: [
    { help: { path: "onto.document.get" } },
    { id: "found", exec: { op: "onto.document.search", args: { search: "launch plan" } } },
    {
      exec: {
        op: "onto.document.get",
        args: { document_id: { $result: "found", path: "/documents/0/id" } },
      },
    },
  ],
});
quote(batch.text);
assert.deepEqual(batch.summary, { total: 3, succeeded: 3, failed: 0 });
assert.partialDeepStrictEqual(batch.results[2], { exec: { ok: true, result: { title: "Launch plan" } } });

heading("12. help shows the policy of a tool; a call repeated with its key runs once");
const creation = await gateway.help({ path: "onto.task.create" });
quote(creation.text);
assert.ok(creation.kind === "tool" && creation.policy?.dont?.length, "the policy says when not to");
const task = {
  op: "onto.task.create",
  args: { project_id, title: "Publish the API Spec" },
  idempotencyKey: "publish",
};
const first = await gateway.exec(task);
const second = await gateway.exec(task);
quote(second.text);
assert.ok(first.ok && second.ok);
assert.deepEqual(second.result, first.result);

heading("13. The guarded fetch reaches the allowed site and no other private host");
const { results } = await run<{ results: { url: string }[] }>("util.web.search", { query: "rate limits" });
await run("util.web.visit", { url: results[0]!.url });
await refused("REQUEST_REFUSED", "util.web.visit", { url: "http://169.254.169.254/" });

await gateway.close();
await onto.close();
heading("Done: API Spec is under Engineering.");

/** Runs an op that must succeed and prints the answer as the model reads it. */
async function run<Result>(op: string, args: Record<string, unknown>): Promise<Result> {
  const answer = await gateway.exec({ op, args });
  assert.ok(answer.ok, answer.text);
  quote(answer.text);
  return answer.result as Result;
}

/** Runs an op that must fail with this code. */
async function refused(code: string, op: string, args: Record<string, unknown>, principal = editor) {
  const answer = await gateway.exec({ op, args }, { principal });
  quote(answer.text);
  assert.ok(!answer.ok, `${op} should have been refused`);
  assert.equal(answer.error.code, code);
  return answer.error;
}

async function readTree(): Promise<readonly TreeNode[]> {
  const args = { project_id, include_documents: true };
  return (await run<{ tree: TreeNode[] }>("onto.document.tree.get", args)).tree;
}

function childIn(nodes: readonly TreeNode[] | undefined, title: string): TreeNode | undefined {
  return nodes?.find((node) => node.title === title);
}
