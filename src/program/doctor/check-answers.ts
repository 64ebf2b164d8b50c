import { reasonOf } from "../../base/util/reason-of.ts";
import { waits } from "../../core/access/pins.ts";
import type { McpSource } from "../../sources/mcp/mcp-source.ts";
import type { OpenedConfig } from "../open/open-config.ts";
import { listSources, openGateway } from "../open/open-gateway.ts";
import { openConsents, openPins } from "../open/stores.ts";
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
  [
    /did not answer in time|in time/,
    "Run its command by hand: it has to speak MCP on stdio, and print nothing else.",
  ],
  [/npm (?:ERR|error)|E404/, "Correct the name of the package in args."],
  [
    /Cannot find (?:module|package)|MODULE_NOT_FOUND|ModuleNotFoundError/,
    "Install what it needs, or correct args.",
  ],
  [/EACCES|permission denied/i, "Give it the rights that it lacks: its last words name the file."],
  [
    /api[ _-]?key|token|credential|unauthori[sz]ed/i,
    `Set the key that it asks for in env, as \${secret:NAME}.`,
  ],
];

/** Starts the servers that may start, and finds out why some do not answer, and what waits for a person. */
export async function checkAnswers(opened: OpenedConfig, skipped: ReadonlySet<string>): Promise<Finding[]> {
  const consents = openConsents();
  const servers = opened.servers.filter(({ id }) => !skipped.has(id));
  const [allowed, waiting] = [true, false].map((isGiven) =>
    servers.filter((source) => consents.isGiven(source.program()) === isGiven),
  ) as [McpSource[], McpSource[]];
  return [
    ...waiting.map(({ label }) =>
      warningOf(`server ${label}`, "it waits for your consent to start", `keyhole servers allow ${label}`),
    ),
    ...(await askAll(allowed)),
  ];
}

async function askAll(sources: readonly McpSource[]): Promise<Finding[]> {
  const { gateway, close } = openGateway({ options: { sources, pins: openPins() } });
  try {
    const failures = await listSources(gateway, () => true);
    return sources.flatMap(({ id, label, diagnostics }): Finding[] => {
      const about = `server ${label}`;
      const { status, stderr, warnings } = diagnostics();
      if (failures.has(id)) {
        const reason = status?.reason ?? reasonOf(failures.get(id));
        const isLogin = status?.state === "needs_login";
        return [problemWith(about, reason, isLogin ? `keyhole login ${label}` : fixOf(reason, stderr))];
      }
      const open = gateway.pins.list().filter((pin) => pin.source === label && waits(pin));
      const steering = open.filter(({ poison }) => poison.length > 0).map(({ route }) => route);
      return [
        ...(steering.length > 0
          ? [
              warningOf(
                about,
                `definitions try to steer a model: ${steering.join(", ")}`,
                `keyhole approve ${label} shows them`,
              ),
            ]
          : []),
        ...(open.length > 0
          ? [
              warningOf(
                about,
                `${open.length === 1 ? "1 definition waits" : `${open.length} definitions wait`} for your approval`,
                `keyhole approve ${label}`,
              ),
            ]
          : []),
        ...warnings.map((warning) => warningOf(about, warning, "Ask those who make the server.")),
      ];
    });
  } catch (error) {
    return [problemWith("servers", reasonOf(error), "keyhole list")];
  } finally {
    await close();
  }
}

/** The server's status says more than its output, so it counts first. */
function fixOf(reason: string, stderr: string): string {
  const [, fix] =
    FIXES.find(([cause]) => cause.test(reason)) ?? FIXES.find(([cause]) => cause.test(stderr)) ?? [];
  return fix ?? "Run its command by hand and read what it says; keyhole servers shows it whole.";
}
