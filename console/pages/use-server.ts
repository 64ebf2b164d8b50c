import type { FiguresAnswer, ServerAnswer, ServerChange } from "../../src/faces/http/endpoints/api-types.ts";
import { attempt } from "../api.ts";
import { useApi } from "../live.ts";

/** Changes the config of a server. */
export function change(server: string, wanted: ServerChange): Promise<void> {
  return attempt("/api/server/change", { server, ...wanted });
}

/** A server as its page and those of its tools show it. */
export function useServer(id: string) {
  const topics = ["sources", "catalog", "calls", "approvals"] as const;
  const loaded = useApi<ServerAnswer>(`/api/server?id=${encodeURIComponent(id)}`, topics);
  const label = loaded.value?.server.label ?? id.split(":").at(-1) ?? id;
  const figures = useApi<FiguresAnswer>("/api/figures?days=30", ["calls"]);
  return {
    loaded,
    label,
    figuresOf: (op: string) => figures.value?.tools.find(({ name }) => name === op),
    save: loaded.value?.rules && ((wanted: ServerChange) => change(label, wanted).finally(loaded.reload)),
  };
}
