import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { verifies } from "../claims.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { processesWith } from "../upstream-kit.ts";
import { connectPerson, npmServer } from "./connected-person.ts";

function workspace(text: string): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "note.txt"), text);
  return folder;
}

for (const isModern of [false, true]) {
  const revision = isModern ? "2026" : "2025";
  verifies(
    "clients:roots",
    `npm's filesystem server reads in the workspace of the client that calls (${revision})`,
    async () => {
      const word = `ROOTS_${revision}_${process.pid}`;
      const args = temporaryFolder();
      const person = await connectPerson({
        files: { ...npmServer("server-filesystem", args), env: { [word]: "1" } },
      });
      const [one, two] = [workspace("first"), workspace("second")];
      const capabilities = { roots: { listChanged: true } };
      const [first, second, again, plain] = await Promise.all([
        person.start({ folder: one, capabilities, isModern }),
        person.start({ folder: two, capabilities, isModern }),
        person.start({ folder: two, capabilities, isModern }),
        person.start({ folder: two, isModern }),
      ]);
      const calls = await Promise.all([first, second, again, plain].map(({ connect }) => connect()));
      const read = { routes: [{ route: "files.read_text_file", params: { path: "note.txt" } }] };
      const answers = await Promise.all(calls.slice(0, 3).map((call) => call("get", read)));
      expect(answers[0]).toContain("first");
      expect(answers[1]).toContain("second");
      expect(answers[2]).toContain("second");
      // A client without roots gets the folders of the config.
      const allowed = { routes: ["files.list_allowed_directories"] };
      expect(await calls[3]!("get", allowed)).toContain(args);
      expect(await calls[0]!("get", allowed)).toContain(one);
      // Clients of one workspace share a process.
      expect(processesWith(`${word}=1`)).toHaveLength(3);
      if (isModern) return;
      mkdirSync(join(one, "more"));
      await first.changeRoots(join(one, "more"));
      expect(await calls[0]!("get", allowed)).toContain(join(one, "more"));
      expect(await calls[1]!("get", allowed)).toContain(two);
      expect(processesWith(`${word}=1`)).toHaveLength(3);
    },
  );
}

verifies(
  "clients:roots",
  "a relative path of a config means the folder of the client that calls",
  async () => {
    const person = await connectPerson({ files: npmServer("server-filesystem", ".") });
    for (const text of ["first", "second"]) {
      const folder = workspace(text);
      const call = await (await person.start({ folder })).connect();
      expect(await call("get", { routes: ["files.list_allowed_directories"] })).toContain(folder);
      const read = {
        routes: [{ route: "files.read_text_file", params: { path: join(folder, "note.txt") } }],
      };
      expect(await call("get", read)).toContain(text);
    }
  },
);

test("the first session lists what was approved without starting a server", async () => {
  const word = `LISTED_${process.pid}`;
  const person = await connectPerson({
    notes: { ...npmServer("server-memory"), env: { [word]: "1" } },
  });
  const started = await person.start();
  const call = await started.connect();
  const { tools } = await started.client.listTools();
  expect(tools[0]!.description).toContain("create_entities(entities: {name, entityType, observations}[])");
  expect(await call("help", { path: "notes.read_graph" })).toContain("Read the entire knowledge graph");
  expect(processesWith(`${word}=1`)).toHaveLength(0);
});
