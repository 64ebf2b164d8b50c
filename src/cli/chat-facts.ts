import type { Fact, Topic } from "../tui/chat-agent.ts";
import type { ChatCosts } from "./chat-costs.ts";
import type { OpenedAgent } from "./open-agent.ts";

/** The facts that the chat shows about a topic. */
export async function chatFacts(
  topic: Topic,
  { agent, gateway, loaded: { settings } }: OpenedAgent,
  costs: ChatCosts,
): Promise<readonly Fact[]> {
  switch (topic) {
    case "tools": {
      const { entries } = await gateway.view();
      const tools = entries.filter(({ kind, visibility }) => kind === "tool" && visibility !== "hidden");
      return tools.map(({ op, route, description }) => ({ name: op ?? route, text: description }));
    }
    case "skills":
      return (agent.options.skills ?? []).map(({ name, description }) => ({ name, text: description }));
    case "cost":
      return costs.facts();
    case "permissions":
      return permissionFacts(settings.permissions);
    case "telemetry": {
      const { enabled, endpoint } = settings.telemetry;
      return [{ name: "telemetry", text: enabled ? `on, sent to ${endpoint}` : "off" }];
    }
  }
}

function permissionFacts(permissions: OpenedAgent["loaded"]["settings"]["permissions"]): Fact[] {
  const facts = (["user", "project"] as const).flatMap((owner) =>
    (["allow", "ask", "deny"] as const).flatMap((verdict) =>
      permissions[owner][verdict].map((rule) => ({
        name: `${verdict} ${rule}`,
        text: `a rule of the ${owner}`,
      })),
    ),
  );
  return [
    ...facts,
    { name: "fs-read", text: "allowed inside the project; sensitive paths ask" },
    { name: "everything else", text: "asks" },
  ];
}
