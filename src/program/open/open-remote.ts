import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createGuardedFetch } from "../../base/net/guarded-fetch.ts";
import { problem } from "../../base/problems/problem.ts";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import { PROGRAM_VERSION } from "../../base/util/program-version.ts";
import type { ToolAnswer } from "../../gateway/toolbox.ts";
import { failureReason } from "../../sources/mcp/failure.ts";
import { boundAnswers, toWebFetch } from "../../sources/mcp/login/web-fetch.ts";
import { NO_VALIDATION } from "../../sources/mcp/no-validation.ts";
import { askYesOrNo, hasTerminal } from "../terminal/confirm.ts";
import type { Operator } from "./open-local.ts";

const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

/**
 * A gateway that runs already, reached over MCP.
 *
 * @throws GATEWAY_UNREACHABLE if no gateway answers there.
 */
export async function openRemote(url: string, token: string | undefined): Promise<Operator> {
  if (!URL.canParse(url)) throw unreachable(url, "it is no address");
  const guarded = createGuardedFetch({ ownUrl: url });
  const client = new Client(
    { name: "keyhole", version: PROGRAM_VERSION },
    {
      versionNegotiation: { mode: "auto" },
      jsonSchemaValidator: NO_VALIDATION,
      ...(hasTerminal() && { capabilities: { elicitation: { form: {} } } }),
    },
  );
  if (hasTerminal())
    client.setRequestHandler("elicitation/create", ({ params }) => answerForm(params.message));
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: toWebFetch(boundAnswers(guarded, MAX_ANSWER_BYTES)),
    ...(token && { requestInit: { headers: { authorization: `Bearer ${token}` } } }),
  });
  const close = async () => {
    await client.close().catch(() => {});
    await guarded.close();
  };
  try {
    await client.connect(transport);
  } catch (error) {
    await close();
    throw unreachable(url, failureReason(error));
  }
  return {
    isRemote: true,
    call: async (name, input): Promise<ToolAnswer> => {
      const { content, structuredContent, isError } = await client.callTool({
        name,
        arguments: { ...input },
        _meta: { "keyhole/structured": true },
      });
      const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
      return { ok: isError !== true, text, data: structuredContent ?? { text } };
    },
    close,
  };
}

/** The form of an approval has one field; a person says yes to it or declines. */
async function answerForm(message: string) {
  const agreed = await askYesOrNo(toVisibleText(message));
  return agreed ? { action: "accept" as const, content: { approve: true } } : { action: "decline" as const };
}

function unreachable(url: string, reason: string) {
  return problem("GATEWAY_UNREACHABLE", { url: toVisibleText(url), reason });
}
