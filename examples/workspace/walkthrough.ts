// An agent works in a folder: rules allow some calls, a person decides on the rest, and refused calls do not run.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PermissionQuestion } from "keyhole/agent";
import { heading, quote } from "../print.ts";
import { workspaceGateway } from "./workspace-gateway.ts";

const root = mkdtempSync(join(tmpdir(), "keyhole-workspace-"));
const asked: PermissionQuestion[] = [];
const gateway = workspaceGateway(root, asked);

heading("calls that the rules allow run");
const written = await gateway.exec({
  op: "workspace.write",
  args: { path: "src/greet.ts", text: 'export const greeting = "hello";\n' },
});
assert.ok(written.ok);
const edited = await gateway.exec({
  op: "workspace.edit",
  args: { path: "src/greet.ts", oldText: "hello", newText: "good morning" },
});
assert.ok(edited.ok);
quote(edited.text);
const counted = await gateway.exec({ op: "workspace.shell", args: { command: "wc -l src/greet.ts" } });
assert.ok(counted.ok);
assert.equal(asked.length, 0);

heading("a chain is allowed only if all its parts are, and a redirection is a write");
for (const command of ["wc -l src/greet.ts && touch x", "wc -l src/greet.ts > count.txt", "wc $(id)"]) {
  const refused = await gateway.exec({ op: "workspace.shell", args: { command } });
  assert.ok(!refused.ok);
  const question = asked.at(-1);
  assert.equal(question?.resource, command);
  quote(`${question.resource}\n${question.reason}`);
}

heading("a deny rule refuses without a question");
const before = asked.length;
const denied = await gateway.exec({ op: "workspace.shell", args: { command: "echo x; git push --force" } });
assert.ok(!denied.ok);
assert.equal(asked.length, before);
quote(denied.text);

await gateway.close();
rmSync(root, { recursive: true });
