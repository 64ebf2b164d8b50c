import { existsSync, mkdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createSocketServer } from "node:net";
import { userInfo } from "node:os";
import { expect, onTestFinished, test } from "vitest";
import { createPermissions } from "../../src/agent/permissions/permissions.ts";
import { isolationMissing } from "../bubblewrap.ts";
import { openWorkspace } from "../open-workspace.ts";
import { setUpPermissions } from "../set-up-permissions.ts";
import { serveHostile } from "./hostile-server.ts";
import { openProgram } from "./program.ts";

const isMissing = (await isolationMissing()) !== undefined;

/** Listens on an address of this machine, which stands for a host. */
async function listen(address: string) {
  let reached = 0;
  const server = createServer((_, answer) => {
    reached += 1;
    answer.end("planted");
  });
  server.on("connection", () => {
    reached += 1;
  });
  await new Promise<void>((done) => server.listen(0, address, done));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { address, port, reached: () => reached };
}

/** Tries hosts in every way that a program has, by their addresses in several spellings. Prints those that answer. */
const TRY = `
const net = require("net");
const proxy = new URL(process.env.HTTP_PROXY ?? "http://127.0.0.1:9");
const talk = (host, at, text) => new Promise((done) => {
  let got = "";
  const peer = net.connect(at, host, () => peer.write(text));
  peer.on("data", (chunk) => { got += chunk; if (/planted|established/.test(got)) peer.destroy(); });
  peer.on("close", () => done(got)).on("error", () => done(got));
  setTimeout(() => peer.destroy(), 5000);
});
const attempt = async (address, port) => {
  const [a, b, c, d] = address.split(".").map(Number);
  const whole = ((a * 256 + b) * 256 + c) * 256 + d;
  const names = [address, String(whole), "0x" + whole.toString(16), "[::ffff:" + address + "]", address + "."];
  const all = [await talk(address, port, "GET / HTTP/1.0\\r\\n\\r\\n")];
  for (const name of names) {
    all.push(await talk(proxy.hostname, proxy.port, "CONNECT " + name + ":" + port + " HTTP/1.1\\r\\n\\r\\n"));
    all.push(await talk(proxy.hostname, proxy.port, "GET http://" + name + ":" + port + "/ HTTP/1.0\\r\\n\\r\\n"));
  }
  all.push(await fetch("http://" + address + ":" + port).then((it) => it.text(), String));
  return all.some((text) => /planted|established/.test(text));
};
(async () => {
  const open = [];
  for (const host of process.argv.slice(1)) if (await attempt(...host.split(":"))) open.push(host);
  console.log("open: " + open.join(",") + ";");
})();`;

test.skipIf(isMissing)("T7: a server with a list of hosts reaches those and no other of 20", async () => {
  const listed = await listen("127.0.0.2");
  // One of the others is another port of the listed host.
  const others = await Promise.all(Array.from({ length: 20 }, (_, index) => listen(`127.0.0.${index + 2}`)));
  const network = [`127.0.0.2:${listed.port}`, "*.example.com"];
  const run = await serveHostile(openProgram(), { sandbox: { network } });
  const hosts = [listed, ...others].map(({ address, port }) => `${address}:${port}`);
  const answer = await run(`'${process.execPath}' -e '${TRY}' ${hosts.join(" ")}`);
  expect(answer).toContain(`open: ${hosts[0]};`);
  expect(others.map(({ reached }) => reached())).toEqual(others.map(() => 0));
  // The channel by which the listening socket was handed over is gone.
  expect(await run("env; ls -l /proc/self/fd")).not.toMatch(/NODE_CHANNEL|\b3 -> socket/);
});

test.skipIf(isMissing).each([["none"], [["*.example.com"]]])(
  "T7: a server whose network is %j reaches no socket without a file, as desktops have them",
  async (network) => {
    const name = `keyhole-${process.pid}-${String(network)}`;
    const desktop = createSocketServer((peer) => peer.end("planted")).listen(`\0${name}`);
    onTestFinished(() => void desktop.close());
    const attempt = `const peer = require("net").connect("\\0${name}");
      peer.on("data", (text) => console.log(String(text))).on("error", (error) => console.log(error.code));`;
    const run = await serveHostile(openProgram(), { sandbox: { network } });
    expect(await run(`'${process.execPath}' -e '${attempt}'`)).toContain("ECONNREFUSED");
  },
);

/** The program that opens the way to the proxy: Perl, or Node where it is not known how Perl hands over a socket. */
const ARCHITECTURES = [process.arch, "unknown"];

test.skipIf(isMissing).each(ARCHITECTURES)(
  "T7: a command of the agent reaches the listed hosts alone: %s",
  async (arch) => {
    const own = Object.getOwnPropertyDescriptor(process, "arch")!;
    Object.defineProperty(process, "arch", { ...own, value: arch });
    onTestFinished(() => void Object.defineProperty(process, "arch", own));
    const [listed, other] = [await listen("127.0.0.2"), await listen("127.0.0.3")];
    const { root } = setUpPermissions();
    const permissions = createPermissions({ root, home: root, ask: async () => "once" as const });
    const network = [`127.0.0.2:${listed.port}`];
    const { shell } = openWorkspace({ permissions, isolation: { open: [], hidden: [], network } });
    const hosts = [listed, other].map(({ address, port }) => `${address}:${port}`);
    const answer = await shell({ command: `'${process.execPath}' -e '${TRY}' ${hosts.join(" ")}` });
    expect(JSON.stringify(answer)).toContain(`open: ${hosts[0]};`);
    expect(other.reached()).toBe(0);
    const left = await shell({ command: "env; ls -l /proc/self/fd" });
    expect(JSON.stringify(left)).not.toMatch(/NODE_CHANNEL|PERL_|\b3 -> socket/);
  },
);

test.skipIf(isMissing).each(["none", ["a.example.com"]] as const)(
  "T7: a program with the network %j reaches no service that looks up names",
  async (network) => {
    const socket = "/run/nscd/socket";
    if (userInfo().uid !== 0 || existsSync("/run/nscd")) {
      console.warn("The lookup of names is not tried: it needs root and a machine without nscd.");
      return;
    }
    mkdirSync("/run/nscd");
    onTestFinished(() => rmSync("/run/nscd", { recursive: true, force: true }));
    let reached = 0;
    const service = createSocketServer((peer) => {
      reached += 1;
      peer.end();
    });
    await new Promise<void>((done) => service.listen(socket, done));
    onTestFinished(() => void service.close());
    const { root } = setUpPermissions();
    const permissions = createPermissions({ root, home: root, ask: async () => "once" as const });
    const connect = `require('net').connect('${socket}').on('connect',()=>console.log('in')).on('error',()=>console.log('out'))`;
    const tried = async (reaches: "all" | typeof network) => {
      const { shell } = openWorkspace({ permissions, isolation: { open: [], hidden: [], network: reaches } });
      return JSON.stringify(await shell({ command: `'${process.execPath}' -e "${connect}"` }));
    };
    expect(await tried(network)).toContain("out");
    expect(reached).toBe(0);
    expect(await tried("all")).toContain("in");
  },
);
