import { z } from "zod";
import { coreOf } from "../../gateway-core.ts";
import { hideSecrets } from "../../net/known-secrets.ts";
import { problem } from "../../schema/problem.ts";
import type { ServerProgram } from "../../schema/server-program.ts";
import type { Source } from "../../schema/source.ts";
import type { McpSource } from "../../sources/mcp/mcp-source.ts";
import { countMenu } from "../../surfaces/count-menu.ts";
import { nativeTools, toNativeTool } from "../../surfaces/native-tools.ts";
import { reasonOf } from "../../util/reason-of.ts";
import { createRedact } from "../../util/redact.ts";
import { replaceSecrets } from "../../util/secret-patterns.ts";
import { secretsInArgs } from "../../util/secret-values.ts";
import { loadTokenCounter } from "../../util/tokens.ts";
import type { ShownProgram, UpstreamsAnswer } from "../parts/answers.ts";
import type { ConsoleParts } from "../parts/console-parts.ts";
import { defineEndpoint, type Endpoint } from "../parts/endpoint.ts";

const STDERR_LINES = 40;
const LOGIN_URL_MS = 20_000;
const named = z.object({ id: z.string() });

/** The state of upstream servers, and what a person may do about it. */
export function upstreamEndpoints({ gateway, recorder, consents }: ConsoleParts): Endpoint[] {
  const upstreams = () => coreOf(gateway).sources().filter(isUpstream);

  function find(id: string): McpSource {
    const source = upstreams().find((one) => one.id === id);
    if (!source) throw problem("NOT_FOUND", { name: "The server" });
    return source;
  }

  async function restart(source: McpSource): Promise<object> {
    try {
      await source.restart();
      return { ok: true };
    } catch (error) {
      return { ok: false, reason: hideSecrets(reasonOf(error)) };
    } finally {
      recorder.tell({ topic: "sources" });
    }
  }

  return [
    {
      method: "GET",
      path: "/api/upstreams",
      title: "Upstream servers: state, protocol, last lines of stderr, tokens of their tools.",
      admin: true,
      handle: async ({ principal }): Promise<UpstreamsAnswer> => {
        const [view, countTokens] = await Promise.all([gateway.view({ principal }), loadTokenCounter()]);
        const rows = upstreams().map(async (source) => {
          const { stderr, status, label, ...facts } = source.diagnostics();
          const own = view.shown.filter(({ domain }) => domain === label);
          const tools = [...nativeTools(own)].map(([name, entry]) => toNativeTool(name, entry));
          const program = source.program();
          return {
            id: source.id,
            label,
            ...facts,
            state: status?.state ?? (facts.connected ? "connected" : "idle"),
            reason: status?.reason,
            runs: toShown(program),
            tools: tools.length,
            tokens: await countMenu(tools, countTokens),
            isHttp: "url" in program.runs,
            needsConsent:
              status?.state === "quarantined" && consents !== undefined && !(await consents.isGiven(program)),
            stderr: stderr.trimEnd().split("\n").slice(-STDERR_LINES).join("\n"),
          };
        });
        return { upstreams: await Promise.all(rows) };
      },
    },
    defineEndpoint({
      method: "POST",
      path: "/api/upstreams/restart",
      title: "Ends a server and starts it again.",
      admin: true,
      input: named,
      handle: async ({ input }) => restart(find(input.id)),
    }),
    defineEndpoint({
      method: "POST",
      path: "/api/upstreams/start",
      title: "Consents to exactly the program of a server, and starts it.",
      admin: true,
      input: named.extend({ hash: z.string() }),
      handle: async ({ input }) => {
        const source = find(input.id);
        const program = source.program();
        if (program.hash !== input.hash) throw problem("NOT_FOUND", { name: "That program" });
        await consents?.give([program]);
        return restart(source);
      },
    }),
    defineEndpoint({
      method: "POST",
      path: "/api/upstreams/login",
      title: "Begins a login to a server over HTTP. Returns the address that the person opens.",
      admin: true,
      input: named,
      handle: async ({ input }) => {
        const address = Promise.withResolvers<string | undefined>();
        const login = find(input.id).logIn({ onUrl: (url) => address.resolve(url.href) });
        // The person logs in after this answer.
        login
          .then(
            () => address.resolve(undefined),
            (error: unknown) => address.reject(error),
          )
          .finally(() => recorder.tell({ topic: "sources" }));
        const timer = setTimeout(() => address.resolve(undefined), LOGIN_URL_MS);
        const url = await address.promise.finally(() => clearTimeout(timer));
        return url === undefined ? { needed: false } : { needed: true, url };
      },
    }),
  ];
}

function isUpstream(source: Source): source is McpSource {
  return "diagnostics" in source && "restart" in source;
}

function toShown({ hash, runs }: ServerProgram): ShownProgram {
  if ("url" in runs) {
    const headers = Object.keys(runs.headers);
    // Paths and queries may hold secrets.
    const { origin, pathname } = new URL(runs.url);
    return { hash, url: `${withoutSecrets(origin)}${pathname === "/" ? "" : "/…"}`, headers };
  }
  const { command, args, cwd, env } = runs;
  const redact = createRedact(secretsInArgs(args));
  const shown = [command, ...args].map((word) => redact(withoutSecrets(word)));
  return { hash, command: shown.join(" "), cwd, env: Object.keys(env) };
}

function withoutSecrets(text: string): string {
  return replaceSecrets(hideSecrets(text), "…");
}
