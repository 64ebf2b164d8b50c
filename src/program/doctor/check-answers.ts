import { reasonOf } from "../../base/util/reason-of.ts";
import { waits } from "../../core/access/pins.ts";
import type { Gateway } from "../../gateway/gateway-api.ts";
import type { ServerSource } from "../../sources/servers/from-config.ts";
import type { OpenedConfig } from "../open/open-config.ts";
import { listSources, openGateway } from "../open/open-gateway.ts";
import { openConsents, openPins } from "../open/stores.ts";
import { suggestCommand } from "../open/suggest-command.ts";
import { type Finding, problemWith, warningOf } from "./check-state.ts";

/**
 * Codes of sockets and HTTP, and words of servers' own output, which has no codes, with their fixes. The first that
 * matches counts.
 */
const FIXES: readonly (readonly [cause: RegExp, fix: string])[] = [
  [/ECONNREFUSED/, "Start the server, or correct the port of its url."],
  [/ENOTFOUND|EAI_AGAIN/, "Correct the host of its url, or check the network and the proxy."],
  [/CERT|SIGNED|SSL|TLS/i, "Name the issuer's certificate in NODE_EXTRA_CA_CERTS, or correct the url."],
  [
    /ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH/,
    "Check the network, a proxy and a firewall on the way.",
  ],
  [/HTTP 40[45]/, "Correct the path of its url; it often ends with /mcp."],
  [/HTTP 429/, "Wait: the server refuses more requests for now."],
  [/HTTP 5\d\d/, "The server itself fails; ask those who run it."],
  [/in time/, "Run its command by hand: it has to speak MCP on stdio, and print nothing else."],
  [/npm (?:ERR|error)|E404/, "Correct the name of the package in args."],
  [
    /Cannot find (?:module|package)|MODULE_NOT_FOUND|ModuleNotFoundError/,
    "Install what it needs, or correct args.",
  ],
  [
    /EROFS|read-only file system/i,
    'Let it write there: "sandbox": { "folders": ["PATH"] } in its config; its last words name the path.',
  ],
  [/EACCES|permission denied/i, "Give it the rights that it lacks: its last words name the file."],
  [
    /api[ _-]?key|token|credential|unauthori[sz]ed/i,
    `Set the key that it asks for in env, as \${secret:NAME}.`,
  ],
];

/** Starts the servers that may start, and finds out why some do not answer, and what waits for a person. */
export async function* checkAnswers(
  servers: readonly ServerSource[],
  { config, state }: Partial<Pick<OpenedConfig, "config" | "state">>,
): AsyncGenerator<Finding> {
  const consents = openConsents(state);
  const answers = await Promise.all(servers.map((server) => consents.isGiven(server.program())));
  const { allowed = [], waiting = [] } = Object.groupBy(servers, (_, index) =>
    answers[index] ? "allowed" : "waiting",
  );
  for (const { label } of waiting)
    yield warningOf(
      `server ${label}`,
      "it waits for your approval to start",
      suggestCommand(["approve", label], config),
    );
  const { gateway, close } = openGateway({ options: { sources: allowed, pins: await openPins(state) } });
  try {
    const failures = await listSources(gateway, () => true);
    for (const server of allowed) yield* checkAnswer(server, failures.get(server.id), gateway, config);
  } catch (error) {
    yield problemWith("servers", reasonOf(error), suggestCommand(["list"], config));
  } finally {
    await close();
  }
}

function* checkAnswer(
  { label, diagnostics, program }: ServerSource,
  failure: unknown,
  { pins }: Gateway,
  config: string | undefined,
): Generator<Finding> {
  const about = `server ${label}`;
  const { status, stderr, warnings } = diagnostics();
  if (failure !== undefined) {
    const reason = status?.reason ?? reasonOf(failure);
    const fix =
      status?.state === "needs_login"
        ? suggestCommand(["login", label], config)
        : "reads" in program().runs
          ? "Correct it in the config, or try again when it can be read."
          : fixOf(reason, stderr, suggestCommand(["servers"], config));
    return yield problemWith(about, reason, fix);
  }
  const approving = suggestCommand(["approve", label], config);
  const open = pins.list().filter((pin) => pin.source === label && waits(pin));
  const steering = open.filter(({ injection }) => injection.length > 0).map(({ route }) => route);
  if (steering.length > 0) {
    const cause = `definitions try to steer a model: ${steering.join(", ")}`;
    yield warningOf(about, cause, `${approving} shows them`);
  }
  if (open.length > 0) {
    const wait = open.length === 1 ? "1 definition waits" : `${open.length} definitions wait`;
    yield warningOf(about, `${wait} for your approval`, approving);
  }
  const fix = "reads" in program().runs ? "Correct the file." : "Ask those who make the server.";
  for (const warning of warnings) yield warningOf(about, warning, fix);
}

/** The server's status says more than its output, so it counts first. */
function fixOf(reason: string, stderr: string, listing: string): string {
  const [, fix] =
    FIXES.find(([cause]) => cause.test(reason)) ?? FIXES.find(([cause]) => cause.test(stderr)) ?? [];
  return fix ?? `Run its command by hand and read what it says; ${listing} shows it whole.`;
}
