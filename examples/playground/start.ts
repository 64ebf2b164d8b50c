// `npm start`: the four systems of the examples in one gateway, for any MCP client.
import { Console } from "node:console";
import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { createGateway, type Gateway, isProblem, loadTokenCounter } from "keyhole";
import { serveConsole } from "keyhole/http";
import { createMcpServer, type McpServer, type McpServerOptions } from "keyhole/mcp";
import { heading } from "../print.ts";
import { authenticateBy, GUEST, makeToken, PLAYGROUND } from "./principals.ts";
import { createSystems, SYSTEMS } from "./systems.ts";
import { THINGS_TO_TRY } from "./things-to-try.ts";

const SURFACES = ["lanes", "routes", "commands", "native"] as const;

const USAGE = `Usage: npm start -- [options]

  --stdio          serves over stdin and stdout instead of HTTP; then with npm start --silent
  --system NAME    only one of them: onto, cms, warehouse or library
  --port NUMBER    default: any that is free, on 127.0.0.1
  --surface NAME   ${SURFACES.join(", ")} (default: lanes)
  --help`;

const options = readOptions();
// stdout belongs to the protocol.
if (options.stdio) globalThis.console = new Console(process.stderr);

const systems = createSystems(options.system);
const gateway = createGateway({
  domains: systems.flatMap(({ domains }) => domains),
  sources: systems.flatMap(({ sources }) => sources),
  principal: PLAYGROUND,
});
const server = createMcpServer(gateway, { surface: options.surface });

console.log(
  options.system
    ? `Keyhole serves ${options.system}.`
    : "Keyhole serves four systems: onto (projects), cms (a website), warehouse (fraud) and library.",
);
await tellCosts(gateway, options.surface);
const face = options.stdio ? server.connect() : await openHttp(server, options.port);
console.log("\nPress Ctrl-C to stop. All changes are lost then.");

let closing = false;
process.on("SIGINT", stop);
process.on("SIGTERM", stop);
if (options.stdio) process.stdin.once("close", stop);

/** A second signal ends at once. */
async function stop(): Promise<void> {
  if (closing) process.exit(1);
  closing = true;
  await face.close();
  await server.close();
  await gateway.close();
  await Promise.all(systems.map((system) => system.close()));
  process.exit(0);
}

async function tellCosts(of: Gateway, surface: NonNullable<McpServerOptions["surface"]>): Promise<void> {
  const countTokens = await loadTokenCounter();
  await of.ready();
  const { ledger } = await of.report();
  const all = await of.menu({ surface: "native" });
  const menu = await of.menu({ surface });
  const cost = menu.reduce((total, tool) => total + countTokens(JSON.stringify(tool)), 0);
  console.log(
    `\nListing all ${all.length} tools in every request would cost ${ledger.everything.toLocaleString("en")} tokens.`,
  );
  console.log(
    `The menu that a model sees instead has ${menu.length} tools: ${cost.toLocaleString("en")} tokens, however much is behind it.`,
  );
}

/** In the workspace the page of the console is built when it has changed. The package has it. */
async function prepareConsole(): Promise<void> {
  const script = new URL("../../scripts/build-console.ts", import.meta.url);
  if (!existsSync(script)) return;
  await (await import(script.href)).buildConsole({ ifChanged: true });
}

async function openHttp(of: McpServer, port: number) {
  await prepareConsole();
  const tokens = new Map([
    [makeToken(), PLAYGROUND],
    [makeToken(), GUEST],
  ]);
  const http = await serveConsole(gateway, of, {
    port,
    authenticate: authenticateBy(tokens),
    principals: () => [...tokens.values()],
    onOpened: (link) => console.log(`The console was opened. For another browser, once: ${link}`),
  }).catch((error: unknown) => {
    if (!isProblem(error) || error.code !== "ADDRESS_UNAVAILABLE") throw error;
    console.error(`${error.message} Choose another port with --port NUMBER, or leave it out for a free one.`);
    process.exit(1);
  });
  const [playground, guest] = tokens.keys();
  heading("In a browser, see what agents find, call and cost (the link works once)");
  console.log(http.consoleLink);
  heading("In another terminal, set the address and your token (tokens are shown only once)");
  console.log(`export KEYHOLE_URL=${http.url}`);
  console.log(`export KEYHOLE_TOKEN=${playground}   # playground: reads and writes`);
  console.log(`export GUEST=${guest}   # guest: only reads`);
  for (const { title, command } of THINGS_TO_TRY) {
    heading(title);
    console.log(command);
  }
  return http;
}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        stdio: { type: "boolean", default: false },
        system: { type: "string" },
        port: { type: "string", default: "0" },
        surface: { type: "string", default: "lanes" },
        help: { type: "boolean", default: false },
      },
    });
    if (values.help) {
      console.log(USAGE);
      process.exit(0);
    }
    const surface = SURFACES.find((name) => name === values.surface);
    const port = Number(values.port);
    const isSystem = values.system === undefined || values.system in SYSTEMS;
    if (surface && isSystem && Number.isInteger(port) && port >= 0 && port < 65_536)
      return { ...values, system: values.system as keyof typeof SYSTEMS | undefined, surface, port };
  } catch {
    // An unknown option, or one without its value.
  }
  console.error(USAGE);
  process.exit(2);
}
