import { join } from "node:path";
import type { LabClient } from "../lab-client.ts";
import { openCodeConfig, openCodeEntry } from "../opencode-config.ts";

export const kilo: LabClient = {
  name: "kilo",
  title: "Kilo",
  packages: { "@kilocode/cli": "7.7.7" },
  bin: "kilo",
  group: "others",
  launch: ({ prompt }) => ({ args: ["run", "--auto", "-m", "lab/scripted", prompt] }),
  entryFile: (servers, { home, model }) => ({
    path: join(home, ".config/kilo/kilo.json"),
    text: JSON.stringify({
      ...openCodeConfig(model),
      mcp: Object.fromEntries(Object.entries(servers).map(([name, server]) => [name, openCodeEntry(server)])),
    }),
  }),
  advice: ["Put the entry of opencode into `mcp` of `~/.config/kilo/kilo.json`."],
};
