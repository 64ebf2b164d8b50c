// Tools that ask a person while they run: the question reaches the client's form, and the call goes on from its answer.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createGateway, defineDomain, defineTool } from "keyhole";
import { createPermissions, workspaceDomain } from "keyhole/agent";
import { createMcpServer } from "keyhole/mcp";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../temporary-folder.ts";
import { connect, connectHttp, ERAS } from "./connect.ts";

const owner = { id: "owner", scopes: [], allowWrite: true };
const FORM = { elicitation: { form: {} } };

describe.each(ERAS)("a client of %s", (era) => {
  describe.each([
    ["stdio", connect],
    ["http", connectHttp],
  ] as const)("over %s", (_, open) => {
    async function openFolder(answers: readonly ("accept" | "decline" | "cancel")[], meanwhile = () => {}) {
      const root = temporaryFolder();
      const gateway = createGateway({
        domains: [workspaceDomain({ permissions: createPermissions({ root }) })],
        principal: owner,
      });
      const server = createMcpServer(gateway);
      onTestFinished(async () => {
        await server.close();
        await gateway.close();
      });
      const { client } = await open(server, era, { capabilities: FORM });
      const questions: string[] = [];
      client.setRequestHandler("elicitation/create", async ({ params }) => {
        const action = answers[questions.length] ?? "decline";
        questions.push(params.message);
        meanwhile();
        return action === "accept" ? { action, content: { approve: true } } : { action };
      });
      const call = async (op: string, args: object) => {
        const { content } = await client.callTool({ name: "exec", arguments: { op, args, dry_run: false } });
        return (content as { text: string }[])[0]!.text;
      };
      return { root, call, questions, client };
    }

    test("the workspace asks by the client's form, with the diff, and writes once after a yes", async () => {
      const { root, call, questions } = await openFolder(["accept"]);
      const text = await call("workspace.write", { path: "a.md", text: "new\n" });
      expect(questions).toHaveLength(1);
      expect(questions[0]).toMatch(/^Run workspace\.write with \{"action":"write file: /);
      expect(questions[0]).toContain("+new");
      expect(text).toContain("created");
      expect(readFileSync(join(root, "a.md"), "utf8")).toBe("new\n");
    });

    test("a no, or a question that nobody answers, changes nothing and says why", async () => {
      const declined = await openFolder(["decline"]);
      expect(await declined.call("workspace.shell", { command: "touch b.md" })).toContain(
        "The person refused",
      );
      expect(existsSync(join(declined.root, "b.md"))).toBe(false);
      const alone = await openFolder(["cancel"]);
      expect(await alone.call("workspace.shell", { command: "touch b.md" })).toContain(
        "Nobody is there to ask",
      );
      expect(existsSync(join(alone.root, "b.md"))).toBe(false);
    });

    test("a yes counts for exactly what was shown: a file that changed meanwhile is not written", async () => {
      const folder = { root: "" };
      const opened = await openFolder(["accept"], () => writeFileSync(join(folder.root, "a.md"), "theirs\n"));
      folder.root = opened.root;
      await opened
        .call("workspace.write", { path: "a.md", text: "ours\n" })
        .catch((error: unknown) => String(error));
      expect(readFileSync(join(opened.root, "a.md"), "utf8")).toBe("theirs\n");
    });

    test("a tool that asks twice goes on after each answer, and acts once", async () => {
      const done: string[] = [];
      const tool = defineTool({
        name: "move_house",
        description: "Move house.",
        lane: "write",
        asksItself: true,
        execute: async (_, { ask }) => {
          for (const action of ["pack the boxes", "drive the van"]) {
            const answer = await ask?.({ scope: "house", action, reason: "It is heavy.", always: [] });
            if (!answer || answer === "declined") return `not allowed: ${action}`;
          }
          done.push("moved");
          return "moved";
        },
      });
      const domains = [defineDomain({ name: "house", description: "A house.", tools: [tool] })];
      const gateway = createGateway({ domains, principal: owner });
      const server = createMcpServer(gateway);
      onTestFinished(async () => {
        await server.close();
        await gateway.close();
      });
      const { client } = await open(server, era, { capabilities: FORM });
      const asked: string[] = [];
      client.setRequestHandler("elicitation/create", async ({ params }) => {
        asked.push(/"action":"([^"]+)"/.exec(params.message)?.[1] ?? "");
        return { action: "accept", content: { approve: true } };
      });
      const op = (await gateway.view()).entries[0]!.op;
      const { content } = await client.callTool({ name: "exec", arguments: { op } });
      expect(JSON.stringify(content)).toContain("moved");
      expect([asked, done]).toEqual([["pack the boxes", "drive the van"], ["moved"]]);
    });
  });
});
