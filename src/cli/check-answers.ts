import { waits } from "../access/pins.ts";
import { createGateway } from "../gateway.ts";
import type { McpSource } from "../sources/mcp/mcp-source.ts";
import { reasonOf } from "../util/reason-of.ts";
import { type Finding, problemWith, warningOf } from "./finding.ts";
import { listServers } from "./list-servers.ts";
import type { OpenedConfig } from "./open-config.ts";
import { openConsents } from "./open-consents.ts";
import { openPins } from "./open-pins.ts";

/** Causes in the words of failures, and their fixes. The first that matches counts. */
const FIXES: readonly (readonly [cause: RegExp, fix: (label: string) => string])[] = [
  [/wants a login/, (label) => `keyhole login ${label}`],
  [/ECONNREFUSED/, () => "Start the server, or correct the port of its url."],
  [/ENOTFOUND|EAI_AGAIN/, () => "Correct the host of its url, or check the network and the proxy."],
  [/CERT|SIGNED|SSL|TLS/i, () => "Name the issuer's certificate in NODE_EXTRA_CA_CERTS, or correct the url."],
  [
    /ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH/,
    () => "Check the network, a proxy and a firewall on the way.",
  ],
  [/HTTP 40[45]/, () => "Correct the path of its url; it often ends with /mcp."],
  [/HTTP 429/, () => "Wait: the server refuses more requests for now."],
  [/HTTP 5\d\d/, () => "The server itself fails; ask those who run it."],
  [
    /did not answer in time|in time/,
    () => "Run its command by hand: it has to speak MCP on stdio, and print nothing else.",
  ],
  [/npm (?:ERR|error)|E404/, () => "Correct the name of the package in args."],
  [
    /Cannot find (?:module|package)|MODULE_NOT_FOUND|ModuleNotFoundError/,
    () => "Install what it needs, or correct args.",
  ],
  [/EACCES|permission denied/i, () => "Give it the rights that it lacks: its last words name the file."],
  [
    /api[ _-]?key|token|credential|unauthori[sz]ed/i,
    () => `Set the key that it asks for in env, as \${secret:NAME}.`,
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
    ...waiting.map(({ id }) =>
      warningOf(
        `server ${labelOf(id)}`,
        "it waits for your consent to start",
        `keyhole servers allow ${labelOf(id)}`,
      ),
    ),
    ...(await askAll(allowed)),
  ];
}

async function askAll(sources: readonly McpSource[]): Promise<Finding[]> {
  const gateway = createGateway({ domains: [], sources, pins: openPins(), learning: false });
  try {
    const failures = await listServers(gateway, () => true);
    const found = sources.flatMap(({ id, diagnostics }): Finding[] => {
      const label = labelOf(id);
      const about = `server ${label}`;
      const reason = failures.get(id);
      if (reason !== undefined)
        return [problemWith(about, causeOf(reason), fixOf(label, reason, diagnostics().stderr))];
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
                `${open.length} of its definitions wait for your approval`,
                `keyhole approve ${label}`,
              ),
            ]
          : []),
        ...diagnostics().warnings.map((warning) =>
          warningOf(about, warning, "Ask those who make the server."),
        ),
      ];
    });
    return found;
  } catch (error) {
    return [problemWith("servers", reasonOf(error), "keyhole list")];
  } finally {
    await gateway.close();
  }
}

/** Only the reason: which server it is about is known. */
function causeOf(reason: string): string {
  return /^.*?(?:is unavailable|cannot be used)[^:]*: (.*?)\.?$/s.exec(reason)?.[1] ?? reason;
}

function fixOf(label: string, reason: string, stderr: string): string {
  const said = `${reason}\n${stderr}`;
  const known = FIXES.find(([cause]) => cause.test(reason)) ?? FIXES.find(([cause]) => cause.test(said));
  return (
    known?.[1](label) ?? `Run its command by hand and read what it says; keyhole servers shows it whole.`
  );
}

function labelOf(id: string): string {
  return id.slice("mcp:".length);
}
