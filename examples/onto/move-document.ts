// "Move the API Spec document under Engineering": search, a look at the help, read the tree, move.
import assert from "node:assert/strict";
import { createGateway, type Principal } from "keyhole";
import { heading, quote } from "../print.ts";
import { openDatabase } from "./database.ts";
import type { Document, TreeNode } from "./documents.ts";
import { createOntoDomain } from "./domain.ts";

const editor: Principal = { id: "eva", scopes: [], allowWrite: true };
const reader: Principal = { id: "rob", scopes: [], allowWrite: false };
const gateway = createGateway({ domains: [createOntoDomain(openDatabase())], principal: editor });

heading("1. Find the document");
const { documents } = await run<{ documents: Document[] }>("onto.document.search", {
  search: "API Spec",
  limit: 10,
});
assert.equal(documents.length, 1);
const { id: document_id, project_id } = documents[0]!;

heading("2. Not sure how moving works: one look at the help");
const help = await gateway.help({ path: "onto.document.tree.move", format: "short" });
quote(help.text);
assert.equal(help.kind, "tool");
assert.equal(help.lane, "write");
assert.deepEqual(
  help.args.map((arg) => arg.name),
  ["project_id", "document_id", "new_parent_id"],
);
assert.ok(help.examples?.length, "help has at least one example");

heading("3. Read the tree to find the folder");
const engineering = childIn(await readTree(), "Engineering");
assert.ok(engineering);

heading("4. Someone who may not write is stopped, and nothing moves");
const move = { project_id, document_id, new_parent_id: engineering.id };
await refused("PERMISSION_DENIED", "onto.document.tree.move", move, reader);
assert.ok(childIn(childIn(await readTree(), "Marketing")?.children, "API Spec"));

heading("5. Wrong args come back with all that is needed to put them right");
const { new_parent_id: parent_id, ...rest } = move;
const wrong = await refused("VALIDATION_ERROR", "onto.document.tree.move", {
  ...rest,
  new_parent: parent_id,
});
assert.equal(wrong.help_path, "onto.document.tree.move");
const fieldErrors = wrong.details.field_errors as { field: string; nearest?: string }[];
assert.ok(fieldErrors.some((error) => error.field === "new_parent" && error.nearest === "new_parent_id"));

heading("6. Move it, and read the tree again");
await run("onto.document.tree.move", move);
const moved = await readTree();
assert.ok(childIn(childIn(moved, "Engineering")?.children, "API Spec"), "it is under Engineering");
assert.ok(!childIn(childIn(moved, "Marketing")?.children, "API Spec"), "and no longer under Marketing");

heading("7. A tool refuses what makes no sense: a folder inside itself");
const loop = { project_id, document_id: engineering.id, new_parent_id: document_id };
await refused("CONFLICT", "onto.document.tree.move", loop);

heading("8. Deleting runs dry until it is told otherwise");
const deletion = await gateway.exec({ op: "onto.document.delete", args: { document_id: "doc_adr" } });
quote(deletion.text);
assert.partialDeepStrictEqual(deletion, { ok: true, result: { would_delete: ["doc_adr", "doc_adr_1"] } });
assert.equal(deletion.meta.dry_run, true);
assert.deepEqual(await readTree(), moved);

heading("9. The first use of a tool in one round trip: help, search, and a call with what was found");
const batch = await gateway.batch({
  requests: [
    { help: { path: "onto.document.get" } },
    { id: "found", exec: { op: "onto.document.search", args: { search: "launch" } } },
    {
      exec: {
        op: "onto.document.get",
        args: { document_id: { $result: "found", path: "/documents/0/id" } },
      },
    },
  ],
});
quote(batch.text);
assert.deepEqual(batch.summary, { total: 3, success: 3, failed: 0 });
assert.partialDeepStrictEqual(batch.results[2], { exec: { ok: true, result: { title: "Launch plan" } } });

heading("10. Help carries the policy of a tool; a call that is repeated with its key happens once");
const creation = await gateway.help({ path: "onto.task.create" });
quote(creation.text);
assert.ok(creation.kind === "tool" && creation.policy?.dont?.length, "the policy says when not to");
const task = {
  op: "onto.task.create",
  args: { project_id, title: "Review the API Spec" },
  idempotency_key: "review",
};
const first = await gateway.exec(task);
const second = await gateway.exec(task);
quote(second.text);
assert.ok(first.ok && second.ok);
assert.deepEqual(second.result, first.result);

await gateway.close();
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
