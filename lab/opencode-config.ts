import type { PlainObject } from "../src/base/util/plain-object.ts";
import type { LabProgram } from "./lab-client.ts";

/** The config of opencode, and of Kilo, which is made from it: the scripted model, and nothing from the network. */
export function openCodeConfig(model: string): object {
  return {
    autoupdate: false,
    share: "disabled",
    provider: {
      lab: {
        npm: "@ai-sdk/openai-compatible",
        name: "lab",
        options: { baseURL: `${model}/v1`, apiKey: "lab" },
        models: { scripted: { name: "scripted", limit: { context: 200_000, output: 8_000 } } },
      },
    },
  };
}

/** A server as both have it. */
export function openCodeEntry({ command, args, env }: LabProgram): PlainObject {
  return {
    type: "local",
    command: [command, ...args],
    enabled: true,
    ...(env && { environment: env }),
  };
}
