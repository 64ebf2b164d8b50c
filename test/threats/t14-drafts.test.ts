import { chmodSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import { clientOf, pathOf, setUp, write } from "../clients/kit.ts";
import { temporaryFolder } from "../temporary-folder.ts";

/** Looks at every file of some folders all the time, as another user of the machine could. */
const WATCHER = `
const { lstatSync, readdirSync } = require("node:fs");
const { parentPort, workerData } = require("node:worker_threads");
const seen = [];
const look = () => {
  for (let round = 0; round < 200; round += 1)
    for (const folder of workerData)
      for (const name of readdirSync(folder)) {
        const facts = lstatSync(folder + "/" + name, { throwIfNoEntry: false });
        if (facts?.isFile() && name.endsWith(".tmp")) seen.push(facts.mode & 0o777);
      }
  setImmediate(look);
};
parentPort.on("message", () => { parentPort.postMessage(seen); process.exit(); });
parentPort.postMessage("ready");
look();
`;

function watch(folders: readonly string[]) {
  const worker = new Worker(WATCHER, { eval: true, workerData: folders });
  const next = () => new Promise<unknown>((resolve) => worker.once("message", resolve));
  onTestFinished(async () => void (await worker.terminate()));
  return {
    ready: next(),
    end: async () => {
      const modes = next();
      worker.postMessage("end");
      return (await modes) as number[];
    },
  };
}

test("T14: drafts of configs are never readable by others, over 200 writes", async () => {
  const { machine, ownPath, connections, plan } = setUp(temporaryFolder());
  const cursor = clientOf("cursor");
  const path = pathOf(cursor, machine);
  write(path, JSON.stringify({ mcpServers: { x: { command: "x", env: { TOKEN: "kept-by-its-person" } } } }));
  chmodSync(path, 0o600);
  mkdirSync(dirname(ownPath), { recursive: true });
  const watcher = watch([dirname(path), dirname(ownPath)]);
  await watcher.ready;
  for (let count = 0; count < 67; count += 1) {
    await connections.make(await plan(cursor));
    expect(statSync(ownPath).mode & 0o777).toBe(0o600);
    await connections.undo("cursor");
  }
  const modes = await watcher.end();
  expect(modes.length).toBeGreaterThan(0);
  expect(modes.filter((mode) => (mode & 0o077) !== 0)).toEqual([]);
});

test("T14: a client's file keeps its permissions, and Keyhole's config is its owner's alone once it has a secret", async () => {
  const { machine, ownPath, connections, plan } = setUp(temporaryFolder());
  const cursor = clientOf("cursor");
  const path = pathOf(cursor, machine);
  write(path, JSON.stringify({ mcpServers: { x: { command: "x", env: { TOKEN: "kept-by-its-person" } } } }));
  write(ownPath, "{}");
  for (const [file, mode] of [
    [path, 0o640],
    [ownPath, 0o644],
  ] as const)
    chmodSync(file, mode);
  await connections.make(await plan(cursor));
  expect([path, ownPath].map((file) => statSync(file).mode & 0o777)).toEqual([0o640, 0o600]);
});
