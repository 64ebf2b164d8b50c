import { spawn } from "node:child_process";
import { problem } from "../../base/problems/problem.ts";
import { INJECTION_KINDS } from "../../base/safety/detect-injection.ts";
import { countOf } from "../../base/util/count-of.ts";
import { nearest } from "../../base/util/nearest.ts";
import { showProgram } from "../../core/access/consents.ts";
import { type Pin, waits } from "../../core/access/pins.ts";
import type { McpSource } from "../../sources/mcp/mcp-source.ts";
import type { AgentEvent } from "../loop/agent-event.ts";
import type { ChatRunOptions, Fact } from "../tui/chat-agent.ts";
import type { ChatParts } from "./chat-parts.ts";
import { type ChatQuestions, noticeOf } from "./chat-questions.ts";

const ACTIONS = ["login", "approve", "allow", "refresh"];

export function createChatServers(
  { servers, gateway, consents }: Pick<ChatParts, "servers" | "gateway" | "consents">,
  questions: ChatQuestions,
) {
  const waiting = (label: string) =>
    gateway.pins.list().filter((pin) => waits(pin) && pin.route.startsWith(`${label}://`));
  let told = new Set<string>();

  function find(label: string | undefined): McpSource {
    const found = servers.find((server) => server.label === label);
    if (found) return found;
    const names = servers.map((server) => server.label).join(", ") || "none";
    throw invalid(`server ${label ?? ""} not found; there are: ${names}`);
  }

  function list(): Fact[] {
    return servers.map((server) => {
      const { status, entries, warnings } = server.diagnostics();
      const { label } = server;
      const pins = waiting(label).length;
      const parts = [
        status === undefined
          ? `works, ${countOf(entries, "entry", "entries")}`
          : `${status.state}: ${status.reason}`,
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
    return [{ name: server.label, text: [done, ...addresses].join("; ") }];
  }

  /** A server that files name and that no person has allowed to run its program as it is now. */
  function needsConsent(server: McpSource): boolean {
    return server.diagnostics().status?.state === "quarantined";
  }

  async function* approve(server: McpSource, signal: AbortSignal): AsyncGenerator<AgentEvent> {
    const { label } = server;
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
      ...poison.map((kind) => `  ! It ${INJECTION_KINDS[kind]}.`),
      ...changes.flatMap((change) => [
        `  ${change.path}`,
        ...("before" in change ? [`  - ${JSON.stringify(change.before)}`] : []),
        ...("after" in change ? [`  + ${JSON.stringify(change.after)}`] : []),
      ]),
    ];
  }

  async function* allow(server: McpSource, signal: AbortSignal): AsyncGenerator<AgentEvent> {
    const program = server.program();
    const given = consents();
    if (given.isGiven(program)) return yield noticeOf(`${program.label} may start already.`);
    const text = [`Server ${program.label}:`, ...showProgram(program)].join("\n");
    if (!(yield* questions.ask("server", text, signal))) return yield noticeOf("It does not start.");
    await given.give([program]);
    await server.refresh();
    yield noticeOf(list().find(({ name }) => name === server.label)!.text);
  }

  return {
    /** Lists the servers; `login NAME` and `refresh NAME` act on one. */
    command: async ([action, label]: readonly string[]): Promise<readonly Fact[]> => {
      if (action === undefined) return list();
      if (action === "login") return logIn(find(label));
      if (action !== "refresh") {
        const [near] = nearest(action, ACTIONS, 1);
        throw invalid(`${action} is no action${near ? `; did you mean ${near}?` : ""}`);
      }
      await find(label).refresh();
      return list();
    },
    /** Asks about a server: `approve NAME` its definitions, `allow NAME` its start. */
    decide: async function* ([action, label]: readonly string[], { signal }: ChatRunOptions) {
      yield* action === "allow" ? allow(find(label), signal) : approve(find(label), signal);
    },
    /** Sentences about servers that broke, or definitions that wait, since the last call. */
    news: () => {
      const now = new Set<string>();
      for (const server of servers) {
        const { label } = server;
        const { status } = server.diagnostics();
        const pins = waiting(label).length;
        if (status && status.state !== "starting")
          now.add(`Server ${label}: ${status.reason}. /mcp shows more.`);
        if (pins > 0)
          now.add(
            `Server ${label}: definitions wait for approval (${pins}). /mcp approve ${label} shows them.`,
          );
      }
      const fresh = [...now].filter((sentence) => !told.has(sentence));
      told = now;
      return fresh;
    },
  };
}

function invalid(reason: string) {
  return problem("INVALID_INPUT", { operation: "/mcp", reason });
}

/** The program that opens an address on each system. It is run without a shell. */
const OPENERS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ["/usr/bin/open"],
  linux: ["xdg-open"],
  win32: ["rundll32.exe", "url.dll,FileProtocolHandler"],
};

/** Opens a web address in the browser. Returns false if that fails. */
export async function openUrl(url: URL): Promise<boolean> {
  const opener = OPENERS[process.platform];
  if (!opener || (url.protocol !== "https:" && url.protocol !== "http:")) return false;
  const [program, ...args] = opener;
  const child = spawn(program, [...args, url.href], { stdio: "ignore", detached: true, shell: false });
  child.unref();
  return new Promise((resolve) => {
    child.once("error", () => resolve(false));
    child.once("spawn", () => resolve(true));
  });
}
