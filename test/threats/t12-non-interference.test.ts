import { createGateway } from "keyhole";
import { createMcpServer } from "keyhole/mcp";
import { test } from "vitest";
import { isMeasuring } from "../is-measuring.ts";
import { connectHttp, ERAS } from "../mcp/connect.ts";
import { answersOf, build, CALLER, compareAnswers, type Planned } from "./non-interference-behaviours.ts";

const CATALOGS = isMeasuring() ? 5_000 : 250;
const TIMEOUT_MS = CATALOGS * 1_200;
const FACES = isMeasuring() ? 500 : 30;

test("T12: entries out of a caller's scopes change no byte of any answer", { timeout: TIMEOUT_MS }, () =>
  compareAnswers(CATALOGS, async (plan, calls, withHidden) => {
    const { domains, routes } = build(plan, withHidden);
    const gateway = createGateway({ domains, principal: CALLER, learning: { now: () => 1_000 } });
    const told = await answersOf(gateway, calls, routes);
    await gateway.close();
    return told;
  }),
);

test(
  "T12: entries out of a caller's scopes change no byte of what MCP clients are told",
  {
    timeout: TIMEOUT_MS,
  },
  () => compareAnswers(FACES, async (plan, _, withHidden) => listingsOf(plan, withHidden)),
);

async function listingsOf(plan: readonly Planned[], withHidden: boolean): Promise<unknown[]> {
  const { domains } = build(plan, withHidden);
  const gateway = createGateway({ domains, principal: CALLER });
  const server = createMcpServer(gateway, { surface: "native" });
  const told: unknown[] = [];
  for (const era of ERAS) {
    const { client } = await connectHttp(server, era, { principal: CALLER });
    told.push(
      client.getServerVersion(),
      client.getInstructions(),
      await client.listTools(),
      await client.listPrompts(),
      await client.listResources(),
      await client.listResourceTemplates(),
    );
    await client.close();
  }
  await server.close();
  await gateway.close();
  return told;
}
