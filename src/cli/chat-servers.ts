import { type Pin, waits } from "../access/pins.ts";
import type { AgentEvent } from "../agent/agent-event.ts";
import type { Gateway } from "../gateway-api.ts";
import { problem } from "../schema/problem.ts";
import type { McpSource } from "../sources/mcp/mcp-source.ts";
import type { Fact, RunOptions } from "../tui/chat-agent.ts";
import { POISON_KINDS } from "../util/find-poison.ts";
import { nearest } from "../util/nearest.ts";
import { type ChatQuestions, noticeOf } from "./chat-questions.ts";
import { openConsents } from "./open-consents.ts";
import { openUrl } from "./open-url.ts";
import { showProgram } from "./show-program.ts";

/** The MCP servers of a chat. */
export interface ChatServers {
  /** Lists the servers; `login NAME` and `refresh NAME` act on one. */
  command(words: readonly string[]): Promise<readonly Fact[]>;
  /** Asks about a server: `approve NAME` its definitions, `allow NAME` its start. */
  decide(words: readonly string[], options: RunOptions): AsyncGenerator<AgentEvent>;
  /** Sentences about servers that broke, or definitions that wait, since the last call. */
  news(): string[];
}

const ACTIONS = ["login", "approve", "allow", "refresh"];

export function createChatServers(
  servers: readonly McpSource[],
  gateway: Gateway,
  questions: ChatQuestions,
): ChatServers {
  const labelOf = ({ id }: McpSource) => id.slice("mcp:".length);
  const waiting = (label: string) =>
    gateway.pins.list().filter((pin) => waits(pin) && pin.route.startsWith(`${label}://`));
  let told = new Set<string>();

  function find(label: string | undefined): McpSource {
    const found = servers.find((server) => labelOf(server) === label);
    if (found) return found;
    const names = servers.map(labelOf).join(", ") || "none";
    throw invalid(`server ${label ?? ""} not found; there are: ${names}`);
  }

  function list(): Fact[] {
    return servers.map((server) => {
      const { status, entries, warnings } = server.diagnostics();
      const label = labelOf(server);
      const pins = waiting(label).length;
      const parts = [
        status === undefined ? `works, ${entries} entries` : `${status.state}: ${status.reason}`,
        ...(status?.state === "needs_login" ? [`/mcp login ${label}`] : []),
        ...(needsConsent(server) ? [`/mcp allow ${label} shows what it runs`] : []),
        ...(pins > 0 ? [`definitions that wait: ${pins}; /mcp approve ${label} shows them`] : []),
        ...warnings.slice(0, 3),
      ];
      return { name: label, text: parts.join("; ") };
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

  /** A server that files name and that no person has allowed to run its program as it is now. */
  function needsConsent(server: McpSource): boolean {
    return server.diagnostics().status?.state === "quarantined";
  }

  async function* approve(server: McpSource, signal: AbortSignal): AsyncGenerator<AgentEvent> {
    const label = labelOf(server);
    const pins = waiting(label);
    if (pins.length === 0) return yield noticeOf(`Nothing of ${label} waits for approval.`);
    const text = [`Server ${label}:`, ...pins.flatMap(definitionLines)].join("\n");
    if (!(yield* questions.ask("definitions", text, signal))) return yield noticeOf("Nothing is approved.");
    const count = await gateway.pins.approve({ pins });
    yield noticeOf(`Approved definitions of ${label}: ${count}.`);
  }

  /** Everything that the definition has, or everything that changed in it. */
  function definitionLines({ route, state, poison }: Pin): string[] {
    const changes = gateway.pins.diff(route);
    return [
      "",
      `${route} (${state})`,
      ...poison.map((kind) => `  ! It ${POISON_KINDS[kind]}.`),
      ...changes.flatMap((change) => [
        `  ${change.path}`,
        ...("before" in change ? [`  - ${JSON.stringify(change.before)}`] : []),
        ...("after" in change ? [`  + ${JSON.stringify(change.after)}`] : []),
      ]),
    ];
  }

  async function* allow(server: McpSource, signal: AbortSignal): AsyncGenerator<AgentEvent> {
    const program = server.program();
    const consents = openConsents();
    if (consents.isGiven(program)) return yield noticeOf(`${program.label} may start already.`);
    const text = [`Server ${program.label}:`, ...showProgram(program)].join("\n");
    if (!(yield* questions.ask("server", text, signal))) return yield noticeOf("It does not start.");
    await consents.give([program]);
    await server.refresh();
    yield noticeOf(list().find(({ name }) => name === labelOf(server))!.text);
  }

  return {
    command: async ([action, label]) => {
      if (action === undefined) return list();
      if (action === "login") return logIn(find(label));
      if (action !== "refresh") {
        const [near] = nearest(action, ACTIONS, 1);
        throw invalid(`${action} is no action${near ? `; did you mean ${near}?` : ""}`);
      }
      await find(label).refresh();
      return list();
    },
    decide: async function* ([action, label], { signal }) {
      yield* action === "allow" ? allow(find(label), signal) : approve(find(label), signal);
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
              ? [
                  `Server ${label}: definitions wait for approval (${pins}). /mcp approve ${label} shows them.`,
                ]
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

function invalid(reason: string) {
  return problem("INVALID_INPUT", { operation: "/mcp", reason });
}
