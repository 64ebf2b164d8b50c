import { basename, dirname, resolve } from "node:path";
import { expect, test } from "vitest";
import { PROBLEMS } from "../src/base/problems/problems.ts";
import {
  doorOf,
  fieldTypes,
  hasReturnType,
  isFunction,
  methodTypes,
  namedTypes,
  publicDoors,
  publicNames,
  snakeFields,
} from "./public-api.ts";

/** Types in public signatures that a caller neither writes nor reads, with the reason. */
const INTERNAL: Readonly<Record<string, string>> = {
  Fills: "for Keyhole's own problems",
  ProblemTableRow: "for Keyhole's own problems",
  Publish: "the gateway passes it to its pins",
  ToolNames: "for Keyhole's own faces",
  Checkpoints: "made by the terminal agent",
  HttpEmbedderKind: "a choice of two texts",
  IdempotencyOptions: "two of its fields are picked",
  ExchangeOptions: "a record of texts",
  LaunchOptions: "one of its fields is picked",
  LaunchVariables: "a record of texts",
  LoginLinks: "made by the program",
  LoginPages: "made by the program",
  ProviderHost: "for Keyhole's own tests",
  AgentKeys: "made by the program",
  AcceptedLimits: "made by the program",
  CallRecorder: "made by the daemon",
  ListingWay: "made by the program",
  ServerEditor: "made by the program",
  SharedServers: "made by the daemon",
};

const names = publicNames();
const values = names.filter(({ isType }) => !isType);
const types = names.filter(({ isType }) => isType);
const namesOf = (list: typeof names) => [...new Set(list.map(({ name }) => name))].sort();

test.each(publicDoors())("the exported values of %s", async (door, file) => {
  const loaded = Object.keys(await import(resolve(file))).sort();
  expect(loaded).toEqual(namesOf(values.filter((name) => name.door === door)));
  expect(loaded).toMatchSnapshot();
});

test.each(publicDoors())("the exported types of %s", (door) => {
  expect(namesOf(types.filter((name) => name.door === door))).toMatchSnapshot();
});

test("the public API stays small, and exports each name once", () => {
  expect(values.length).toBeLessThanOrEqual(67);
  expect(types.length).toBeLessThanOrEqual(274);
  expect(namesOf(names)).toHaveLength(names.length);
});

test("every type in the signature of an exported value is exported", () => {
  const exported = new Set(names.map(({ declaration }) => declaration));
  const missing = values.flatMap(({ name, declaration }) =>
    namedTypes(declaration)
      .filter((type) => !exported.has(type))
      .map((type) => `${type.name} of ${name}`),
  );
  expect(missing).toEqual([]);
});

test("every type that a method of an exported type takes or returns is exported", () => {
  const exported = new Set(names.map(({ declaration }) => declaration));
  const missing = types.flatMap(({ name, declaration }) =>
    methodTypes(declaration)
      .filter((type) => !exported.has(type) && !(type.name in INTERNAL))
      .map((type) => `${type.name} of ${name}`),
  );
  expect(missing).toEqual([]);
});

test("a door is the index.ts of a folder, has its name, and exports what the folder declares", () => {
  for (const [door, file] of publicDoors()) {
    expect(basename(file)).toBe("index.ts");
    expect(door).toBe(file === "src/index.ts" ? "keyhole" : `keyhole/${basename(dirname(file))}`);
  }
  const files = new Map(publicDoors());
  const elsewhere = names.filter(({ door, declaration }) => doorOf(declaration) !== files.get(door));
  expect(elsewhere.map(({ door, name }) => `${name} of ${door}`)).toEqual([]);
});

test("every type in the fields of options and definitions that a caller writes is exported", () => {
  const exported = new Set(names.map(({ declaration }) => declaration));
  const written = types.filter(({ name }) => /(?:Options|Definition|Config)$/.test(name));
  expect(written.length).toBeGreaterThan(40);
  const missing = written.flatMap(({ name, declaration }) =>
    fieldTypes(declaration)
      .filter((type) => !exported.has(type) && !(type.name in INTERNAL))
      .map((type) => `${type.name} of ${name}`),
  );
  expect(missing).toEqual([]);
});

test("fields are camelCase, but for the JSON of others", () => {
  const JSON_OF_OTHERS = [
    "AnthropicToolResult",
    "MenuTool",
    "OpenAIToolMessage",
    "Registry",
    "RegistryOp",
    "ServiceAccount",
  ];
  const wrong = types.filter(({ declaration }) => snakeFields(declaration.node).length > 0);
  expect(namesOf(wrong)).toEqual(JSON_OF_OTHERS);
});

test("every exported function states its return type, so that its source names every type of its signature", () => {
  const functions = values.filter(({ declaration }) => isFunction(declaration));
  expect(functions.length).toBeGreaterThan(40);
  expect(namesOf(functions.filter(({ declaration }) => !hasReturnType(declaration)))).toEqual([]);
});

test("every exported name is documented, and every value has an example", () => {
  expect(namesOf(names.filter(({ declaration }) => declaration.doc.trim() === ""))).toEqual([]);
  const example = /@example\n```ts(?: no-run)?\n[\s\S]+?```/;
  expect(namesOf(values.filter(({ declaration }) => !example.test(declaration.doc)))).toEqual([]);
});

test("documentation names problems and exports that exist", () => {
  const wrong = names.flatMap(({ name, declaration: { doc } }) => {
    const codes = [...doc.matchAll(/@throws `?(\S+?)`?(?=\s)/g)].map(([, code]) => code!);
    const links = [...doc.matchAll(/\{@link (\w+)\}/g)].map(([, link]) => link!);
    return [
      ...codes.filter((code) => !Object.hasOwn(PROBLEMS, code)),
      ...links.filter((link) => !names.some((other) => other.name === link)),
    ].map((word) => `${word} at ${name}`);
  });
  expect(wrong).toEqual([]);
});
