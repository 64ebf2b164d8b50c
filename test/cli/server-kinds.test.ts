// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are variables of configs.
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { verifies } from "../claims.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { keyhole } from "./kit.ts";

function write(home: string, name: string, value: unknown): string {
  const path = join(home, name);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, typeof value === "string" ? value : JSON.stringify(value, null, 2));
  return path;
}

const PETS = {
  openapi: "3.1.0",
  info: { title: "Pets", description: "Pets of a shop." },
  servers: [{ url: "https://pets.example" }],
  paths: {
    "/pets": { get: { operationId: "listPets", summary: "List pets", responses: {} } },
    "/pets/{id}": {
      delete: {
        operationId: "deletePet",
        summary: "Delete a pet",
        parameters: [{ name: "id", in: "path", required: true, schema: { type: "string" } }],
        responses: {},
      },
    },
  },
};

/** An API that answers with the pets, if the key is right. */
async function petShop(): Promise<string> {
  const server = createServer(({ headers }, response) => {
    response.statusCode = headers["x-key"] === "tail-wagger" ? 200 : 401;
    response.setHeader("content-type", "application/json").end(JSON.stringify([{ name: "Rex" }]));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A home with a config in a folder of its own, beside the files that it names. */
async function officeConfig(home: string): Promise<string> {
  const host = await petShop();
  write(home, "office/docs/fragments/guides/travel.md", "# Travel\n\nBook trains early.");
  write(home, "office/docs/prompts/trip.md", "---\ndescription: Plan a trip.\n---\nPlan a trip to $1.");
  write(home, "office/handbook/holidays.md", "# Holidays\n\nThirty days a year.");
  write(home, "office/pets.json", PETS);
  return write(home, "office/keyhole.json", {
    servers: {
      guide: { library: "./docs", scheme: "orchestr8", description: "How we travel." },
      handbook: { content: [{ source: "local", root: "handbook", basePath: "pages" }] },
      pets: {
        openapi: "./pets.json",
        baseUrl: `http://${host}`,
        allowPrivateHosts: [host],
        auth: { type: "apiKey", in: "header", name: "x-key", value: "${PET_KEY}" },
        excludeTools: ["deletePet"],
      },
    },
  });
}

const KEY = { PET_KEY: "tail-wagger" };

verifies(
  "config:without-code",
  "a folder of Markdown, documents and an API are servers of a JSON config",
  async () => {
    const home = temporaryFolder();
    const config = await officeConfig(home);
    const run = (...words: string[]) => keyhole(home, [...words, "--config", config], KEY);

    const before = await run("servers");
    expect(before.out).toMatch(/guide +waits for approval[\s\S]*handbook +waits[\s\S]*pets +waits/);
    const asked = await run("ask", "book trains early");
    expect(asked.out + asked.errors).toContain("keyhole approve guide");
    expect(asked.out).not.toContain("guides.travel");

    const shown = await run("approve");
    expect(shown.out).toContain(`reads    library=${join(home, "office/docs")}`);
    expect(shown.out).toContain("reads    content[0].source=local");
    expect(shown.out).toContain("${PET_KEY} of yours");
    expect(shown.out + shown.errors).not.toContain(KEY.PET_KEY);
    const [, hash] = /Hash: (\S+)/.exec(shown.out)!;
    await run("approve", "--hash", hash!);

    expect((await run("servers")).out).toMatch(
      /guide +ready[\s\S]*handbook +ready[\s\S]*pets +1 tool .*ready/,
    );
    expect((await run("ask", "book trains early")).out).toContain("guide.resources.guides.travel");
    expect((await run("show", "orchestr8://guides/travel")).out).toContain("Book trains early.");
    expect((await run("ask", "holidays")).out).toContain("handbook.resources.pages.holidays");
    expect((await run("show", "handbook://resources/pages/holidays-md")).out).toContain("Thirty days");
    expect((await run("call", "pets.pet.list")).out).toContain("Rex");
    expect((await run("ask", "delete a pet")).out).not.toContain("deletePet");
    expect((await run("show", "guide")).out).toContain("How we travel.");
    expect((await run("doctor")).out).toContain("3 servers: all is well.");

    // A consent that is taken back counts for what was listed, too.
    await run("approve", "guide", "--revoke");
    expect((await run("show", "orchestr8://guides/travel")).out).not.toContain("Book trains early.");
  },
);

test.each([
  [{ library: "./dosc" }, `its library HOME/dosc does not exist; did you mean HOME/docs?`],
  [{ library: "./docs", command: "x" }, "it has both a library and a command"],
  [{ libary: "./docs" }, 'the field nearest to "libary" is library'],
  [
    { content: [{ source: "githup", owner: "a", repo: "b" }] },
    'content[0]: the source "githup" is not known; did you mean github?',
  ],
  [
    { content: [{ source: "local", root: "docs", formats: ["markdwn"] }] },
    'content[0]: the format "markdwn" is not known; did you mean markdown?',
  ],
  [
    { content: [{ source: "local", rooot: "docs" }] },
    "content[0]: root must be a text; rooot is not known; the nearest key is root",
  ],
  [
    { content: [{ source: "qase", project: "DEMO", token: "${QASE_TOKEN}" }] },
    "the variable QASE_TOKEN is not set",
  ],
  [{ openapi: "./docs/none.yaml" }, "its openapi HOME/docs/none.yaml does not exist"],
])("doctor says what is wrong with %j", async (server, sentence) => {
  const home = temporaryFolder();
  write(home, "docs/fragments/a.md", "# A\n\nText.");
  const config = write(home, "keyhole.json", {
    servers: { wrong: server, good: { library: "docs" } },
  });
  const { out } = await keyhole(home, ["doctor", "--config", config, "--no-start"]);
  expect(out).toContain(sentence.replaceAll("HOME", home));
});

test("a missing folder is told by an answer, and the other servers serve", async () => {
  const home = temporaryFolder();
  write(home, "docs/fragments/a.md", "# Apples\n\nKeep apples cool.");
  const config = write(home, "keyhole.json", {
    servers: { wrong: { library: "./dosc" }, good: { library: "docs" } },
  });
  const { out, errors } = await keyhole(home, ["ask", "apples", "--config", config, "--trust"]);
  expect(out).toContain("good.resources.a");
  expect(out + errors).toContain(`did you mean ${join(home, "docs")}?`);
});

test("add puts a library and an API into the person's own config, and remove takes them out", async () => {
  const home = temporaryFolder();
  write(home, "docs/fragments/a.md", "# Apples\n\nKeep apples cool.");
  write(home, "pets.json", PETS);
  expect((await keyhole(home, ["add", "guide", "--library", "docs", "--scheme", "team"])).out).toContain(
    "keyhole approve guide",
  );
  await keyhole(home, ["add", "pets", "--openapi", "pets.json"]);
  const { out } = await keyhole(home, ["approve"]);
  expect(out).toContain(`reads    library=${join(home, "docs")}`);
  await keyhole(home, ["approve", "--hash", /Hash: (\S+)/.exec(out)![1]!]);
  expect((await keyhole(home, ["ask", "apples"])).out).toContain("guide.resources.a");
  await keyhole(home, ["remove", "guide"]);
  expect((await keyhole(home, ["servers"])).out).not.toContain("guide");
});

test("a server of an untrusted project is not read", async () => {
  const home = temporaryFolder();
  const project = join(home, "project");
  write(project, "docs/fragments/a.md", "# Apples\n\nKeep apples cool.");
  write(project, ".keyhole/settings.json", { mcpServers: { theirs: { library: "docs" } } });
  write(home, ".keyhole/settings.json", {});
  const { out, errors } = await keyhole(project, ["ask", "apples"], { HOME: home });
  expect(out).not.toContain("theirs");
  expect(errors).toContain("NO_SERVERS");
});
