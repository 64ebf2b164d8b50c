import { waits } from "../access/pins.ts";
import type { Gateway } from "../gateway-api.ts";
import { problem } from "../schema/problem.ts";
import type { McpSource } from "../sources/mcp/mcp-source.ts";
import type { Fact } from "../tui/chat-agent.ts";
import { openUrl } from "./open-url.ts";

/** The MCP servers of a chat. */
export interface ChatServers {
  /** Lists the servers; `login NAME`, `refresh NAME` and `approve NAME` act on one. */
  command(words: readonly string[]): Promise<readonly Fact[]>;
  /** Sentences about servers that broke, or definitions that wait, since the last call. */
  news(): string[];
}

export function createChatServers(servers: readonly McpSource[], gateway: Gateway): ChatServers {
  const labelOf = ({ id }: McpSource) => id.slice("mcp:".length);
  const waiting = (label: string) =>
    gateway.pins.list().filter((pin) => waits(pin) && pin.route.startsWith(`${label}://`));
  let told = new Set<string>();

  function find(label: string | undefined): McpSource {
    const found = servers.find((server) => labelOf(server) === label);
    if (found) return found;
    const names = servers.map(labelOf).join(", ") || "none";
    throw problem("INVALID_INPUT", {
      operation: "/mcp",
      reason: `server ${label} not found; there are: ${names}`,
    });
  }

  function list(): Fact[] {
    return servers.map((server) => {
      const { status, entries, warnings } = server.diagnostics();
      const pins = waiting(labelOf(server)).length;
      const parts = [
        status === undefined ? `works, ${entries} entries` : `${status.state}: ${status.reason}`,
        ...(status?.state === "needs_login" ? [`/mcp login ${labelOf(server)}`] : []),
        ...(pins > 0 ? [`${pins} definitions wait: /mcp approve ${labelOf(server)}`] : []),
        ...warnings.slice(0, 3),
      ];
      return { name: labelOf(server), text: parts.join("; ") };
    });
  }

  async function logIn(server: McpSource): Promise<Fact[]> {
    const addresses: string[] = [];
    const needed = await server.logIn({
      onUrl: async (url) => {
        addresses.push(url.href);
        await openUrl(url);
      },
    });
    const done = needed ? "logged in" : "needs no login";
    return [{ name: labelOf(server), text: [done, ...addresses].join("; ") }];
  }

  /** Shows the definitions; with `yes`, approves exactly those that were shown. */
  async function approve(server: McpSource, yes: boolean): Promise<Fact[]> {
    const pins = waiting(labelOf(server));
    if (pins.length === 0) return [{ name: labelOf(server), text: "nothing waits for approval" }];
    if (yes) {
      const count = await gateway.pins.approve({ pins });
      return [{ name: labelOf(server), text: `${count} definitions approved` }];
    }
    return [
      ...pins.map(({ route, state, poison }) => {
        const changes = gateway.pins.diff(route).map((change) => JSON.stringify(change));
        const warning = poison.length > 0 ? `Warning, it tries to steer a model: ${poison.join(", ")}. ` : "";
        return { name: route, text: `${state}. ${warning}${changes.join(" ")}`.slice(0, 1_500) };
      }),
      { name: "approve", text: `/mcp approve ${labelOf(server)} yes approves them as they are shown` },
    ];
  }

  return {
    command: async ([action, label, yes]) => {
      if (action === undefined) return list();
      if (action === "login") return logIn(find(label));
      if (action === "approve") return approve(find(label), yes === "yes");
      if (action !== "refresh")
        throw problem("INVALID_INPUT", { operation: "/mcp", reason: `${action} is no action` });
      await find(label).refresh();
      return list();
    },
    news: () => {
      const now = new Set(
        servers.flatMap((server) => {
          const label = labelOf(server);
          const { status } = server.diagnostics();
          const pins = waiting(label).length;
          return [
            ...(status && status.state !== "starting"
              ? [`Server ${label}: ${status.reason}. /mcp shows more.`]
              : []),
            ...(pins > 0
              ? [`Server ${label}: ${pins} definitions wait for approval. /mcp approve ${label} shows them.`]
              : []),
          ];
        }),
      );
      const fresh = [...now].filter((sentence) => !told.has(sentence));
      told = now;
      return fresh;
    },
  };
}
