import { expect, vi } from "vitest";
import { verifies } from "../claims.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { connectPerson, npmServer } from "./connected-person.ts";

for (const isModern of [false, true]) {
  verifies(
    "clients:questions",
    `forms, completions and roots of a server reach the client that calls (${isModern ? "2026" : "2025"})`,
    async () => {
      const person = await connectPerson({ every: npmServer("server-everything") });
      const folder = temporaryFolder();
      const able = await person.start({
        folder,
        isModern,
        capabilities: { roots: {}, sampling: {}, elicitation: { form: {} } },
      });
      const asked: string[] = [];
      able.client.setRequestHandler("elicitation/create", async ({ params }) => {
        asked.push(params.message);
        return { action: "accept", content: { name: "Ada" } };
      });
      able.client.setRequestHandler("sampling/createMessage", async ({ params }) => {
        asked.push(String(params.systemPrompt));
        return { model: "m", role: "assistant", content: { type: "text", text: "completed words" } };
      });
      const call = await able.connect();
      const elicit = { op: "every.trigger-elicitation-request" };
      expect(await call("exec", elicit)).toContain("Ada");
      expect(asked[0]).toMatch(/^The server every asks: /);
      const sample = { op: "every.trigger-sampling-request", args: { prompt: "hello" } };
      expect(await call("exec", sample)).toContain("completed words");
      expect(asked[1]).toMatch(/^The server every asks: /);
      // The server asks for roots some time after its start.
      await vi.waitFor(
        async () => expect(await call("exec", { op: "every.get-roots-list" })).toContain(folder),
        { timeout: 30_000, interval: 500 },
      );

      const plain = await (await person.start({ folder, isModern })).connect();
      expect(await plain("exec", elicit)).toMatch(/only to clients with .*elicitation/);
      expect(await plain("exec", sample)).toMatch(/only to clients with .*sampling/);
      expect(await plain("exec", { op: "every.echo", args: { message: "hi" } })).toContain("hi");
    },
  );
}

for (const isModern of [false, true]) {
  verifies(
    "clients:questions",
    `forms and roots of a server reach the client whose script calls it (${isModern ? "2026" : "2025"})`,
    async () => {
      const person = await connectPerson({ every: npmServer("server-everything") });
      const folder = temporaryFolder();
      const able = await person.start({
        folder,
        isModern,
        serve: ["--surface", "code"],
        capabilities: { roots: {}, elicitation: { form: {} } },
      });
      able.client.setRequestHandler("elicitation/create", async () => ({
        action: "accept",
        content: { name: "Ada" },
      }));
      const call = await able.connect();
      const script = (tool: string) => ({ code: `return await call("every.${tool}", {})` });
      expect(await call("run", script("trigger-elicitation-request"))).toContain("Ada");
      await vi.waitFor(async () => expect(await call("run", script("get-roots-list"))).toContain(folder), {
        timeout: 30_000,
        interval: 500,
      });
    },
  );
}

verifies("clients:questions", "a client without forms is told so on the first call, too", async () => {
  const person = await connectPerson({ every: npmServer("server-everything") });
  const plain = await (await person.start()).connect();
  const answer = await plain("exec", { op: "every.trigger-elicitation-request" });
  expect(answer).toMatch(/does not support elicitation|only to clients with .*elicitation/);
});
