import { spawn } from "node:child_process";
import { problem } from "../../base/problems/problem.ts";
import { countOf } from "../../base/util/count-of.ts";
import { nearest } from "../../base/util/nearest.ts";
import { waits } from "../../core/access/pins.ts";
import type { ApprovalFace } from "../../gateway/approvals.ts";
import type { McpSource } from "../../sources/mcp/mcp-source.ts";
import type { AgentEvent } from "../loop/agent-event.ts";
import { EventQueue } from "../loop/run-context.ts";
import type { ChatRunOptions, Fact } from "../tui/chat-agent.ts";
import type { ChatParts } from "./chat-parts.ts";
import { type ChatQuestions, noticeOf } from "./chat-questions.ts";

const ACTIONS = ["login", "approve", "allow", "refresh"];

export function createChatServers(
  { servers, gateway, approve }: Pick<ChatParts, "servers" | "gateway" | "approve">,
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
    return servers.map((server) => ({ name: server.label, text: stateOf(server) }));
  }

  function stateOf(server: McpSource): string {
    const { status, entries, warnings } = server.diagnostics();
    const { label } = server;
    const pins = waiting(label).length;
    if (needsConsent(server)) return `waits for your approval to start: /mcp approve ${label}`;
    return [
      status === undefined
        ? `works, ${countOf(entries, "entry", "entries")}`
        : `${status.state}: ${status.reason}`,
      ...(status?.state === "needs_login" ? [`/mcp login ${label}`] : []),
      ...(pins > 0
        ? [`${countOf(pins, "definition waits", "definitions wait")}: /mcp approve ${label}`]
        : []),
      ...warnings.slice(0, 3),
    ].join("; ");
  }

  function waitsForPerson(server: McpSource): boolean {
    return needsConsent(server) || waiting(server.label).length > 0;
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
    /** Asks about the named server, or about all that wait. */
    decide: async function* (
      [, label]: readonly string[],
      { signal }: ChatRunOptions,
    ): AsyncGenerator<AgentEvent, void> {
      const asked = label === undefined ? servers.filter(waitsForPerson) : [find(label)];
      if (asked.length === 0) return yield noticeOf("Nothing waits for approval.");
      const queue = new EventQueue<AgentEvent>();
      const face: ApprovalFace = {
        show: async (card) => {
          const asking = questions.askCard(card, signal);
          let step = await asking.next();
          for (; !step.done; step = await asking.next()) queue.push(step.value);
          return step.value ?? (signal.aborted ? "stop" : "later");
        },
        tell: (sentence) => queue.push(noticeOf(sentence)),
      };
      const names = asked.map((server) => server.label);
      const ended = approve(names, face).finally(queue.close);
      yield* queue.values();
      await ended;
      // An approval counts at once.
      await Promise.all(asked.map((server) => server.refresh().catch(() => {})));
    },
    /** Sentences about servers that broke, or definitions that wait, since the last call. */
    news: () => {
      const now = new Set<string>();
      for (const server of servers) {
        const { label } = server;
        const { status } = server.diagnostics();
        if (waitsForPerson(server)) now.add(`Server ${label} waits for you. /mcp approve ${label} shows it.`);
        else if (status && status.state !== "starting")
          now.add(`Server ${label}: ${status.reason}. /mcp shows more.`);
      }
      const fresh = [...now].filter((sentence) => !told.has(sentence));
      told = now;
      return fresh;
    },
  };
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
