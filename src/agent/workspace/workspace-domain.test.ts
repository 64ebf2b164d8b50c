import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { problem } from "../../base/problems/problem.ts";
import { createGateway } from "../../gateway/create-gateway.ts";
import { createPermissions } from "../permissions/permissions.ts";
import { toToolProblem } from "./tool-problem.ts";
import { workspaceDomain } from "./workspace-domain.ts";

function setUp() {
  const root = temporaryFolder();
  const permissions = createPermissions({ root, user: { allow: ["fs-write(**)", "fs-delete(**)"] } });
  const gateway = createGateway({
    domains: [workspaceDomain({ permissions })],
    principal: { id: "me", scopes: [], allowWrite: true },
  });
  onTestFinished(() => gateway.close());
  return { root, gateway };
}

test("the gateway finds and runs the tools of the workspace", async () => {
  const { root, gateway } = setUp();
  writeFileSync(join(root, "a.txt"), "one\n");
  const asked = await gateway.ask({ queries: ["grep in files", "run a terminal command"] });
  const ops = asked.hits.map(({ route }) => route);
  expect(ops).toContain("workspace://tools/search");
  expect(ops).toContain("workspace://tools/shell");
  const read = await gateway.get({
    routes: [{ route: "workspace://tools/read", params: { path: "a.txt" } }],
  });
  expect(read.results[0]).toMatchObject({
    ok: true,
    data: { content: "[a.txt, lines 1 to 1 of 1]\n1\tone" },
  });
  const edit = await gateway.exec({
    op: "workspace.edit",
    args: { path: "a.txt", oldText: "one", newText: "two" },
  });
  expect(edit).toMatchObject({ ok: true, result: { replaced: 1 } });
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("two\n");
});

test("delete runs dry on request, and a refusal is one problem with its own code", async () => {
  const { root, gateway } = setUp();
  writeFileSync(join(root, "a.txt"), "one\n");
  await gateway.exec({ op: "workspace.delete", args: { path: "a.txt" }, dryRun: true });
  expect(existsSync(join(root, "a.txt"))).toBe(true);
  await gateway.exec({ op: "workspace.delete", args: { path: "a.txt" }, dryRun: false });
  expect(existsSync(join(root, "a.txt"))).toBe(false);
  const refused = await gateway.exec({ op: "workspace.shell", args: { command: "make" } });
  expect(refused).toMatchObject({ ok: false, error: { code: "PERMISSION_DENIED" } });
  const { message, next } = (refused as { error: { message: string; next: string } }).error;
  expect(message).toMatch(/^shell-run: /);
  expect(next).toContain("Go on without it");
  expect(refused.text).not.toContain("TOOL_FAILED");
  expect(refused.text.match(/PERMISSION_DENIED/g)).toHaveLength(1);
});

test("whatever a tool throws becomes a problem with a code of the table and a next step", () => {
  const code = (error: unknown) => toToolProblem(error).code;
  const busy = problem("BUSY", { server: "x", running: 1, waiting: 1 });
  expect(toToolProblem(busy)).toBe(busy);
  expect(code(Object.assign(new TypeError("x"), { code: "EACCES" }))).toBe("PERMISSION_DENIED");
  expect(code(Object.assign(new TypeError("x"), { code: "EISDIR" }))).toBe("IO_ERROR");
  expect(code(Object.assign(new Error("x"), { code: "UNKNOWN" }))).toBe("UNKNOWN");
  expect(toToolProblem("thrown text")).toMatchObject({
    code: "UNKNOWN",
    message: "thrown text",
    next: "Report the failure to the person.",
  });
});
