import type { LabClient } from "../lab-client.ts";
import { openCodeConfig, openCodeEntry } from "../opencode-config.ts";
import { DENIED } from "../tour/outcomes.ts";

export const opencode: LabClient = {
  name: "opencode",
  title: "opencode",
  packages: { "opencode-ai": "1.18.33" },
  bin: "opencode",
  group: "named",
  launch: ({ model, prompt }) => ({
    args: ["run", "--auto", "-m", "lab/scripted", prompt],
    env: { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" },
    files: {
      ".config/opencode/opencode.json": JSON.stringify({
        ...openCodeConfig(model),
        tools: { [`filesystem_${DENIED}`]: false },
      }),
    },
  }),
  entry: openCodeEntry,
  denies: true,
  advice: [
    "Calls may be silent for a minute. Keyhole reports progress every 15 seconds, so longer calls go on.",
  ],
};
