import type { Client, ClientMachine } from "../src/program/clients/client.ts";
import { CLIENTS } from "../src/program/clients/clients.ts";
import { editConfig } from "../src/program/clients/edit-config.ts";
import { KEYHOLE } from "../src/program/clients/find-configs.ts";
import { entryOf } from "../src/program/clients/plan-connection.ts";

const PROGRAM = {
  command: "/usr/bin/node",
  args: ["/path/to/keyhole/main.js", "serve", "--config", "/home/me/.keyhole/settings.json", "--allow-write"],
};
const PLATFORMS = { linux: "Linux", darwin: "macOS", win32: "Windows" } as const;

/** For each client: its files, and the entry that `keyhole connect` writes into an empty one. */
export async function clientSnippets(): Promise<string> {
  const sections = CLIENTS.map(async (client) => {
    const { text, format } = await snippetOf(client, PROGRAM);
    return `### ${client.title}\n\n\`keyhole connect ${client.name}\`\n\n${fileLines(client).join("\n")}\n\n\`\`\`${format}\n${text.trimEnd()}\n\`\`\``;
  });
  return `\n${(await Promise.all(sections)).join("\n\n")}\n`;
}

async function snippetOf(client: Client, program: typeof PROGRAM) {
  const { path, at, format } = client.places(machine("linux"))[0]!;
  const edit = {
    at,
    remove: [],
    set: { [KEYHOLE]: entryOf(client, program) },
    ...(client.dialect.isList && { isList: true }),
  };
  return { path, format, text: await editConfig({ path, format }, "", [edit]) };
}

function fileLines(client: Client): string[] {
  const byPath = new Map<string, string[]>();
  for (const [platform, title] of Object.entries(PLATFORMS)) {
    for (const { path, scope, at } of client.places(machine(platform as NodeJS.Platform))) {
      const key = `\`${path}\` (${scope}${at.includes("*") ? ", by folder" : ""})`;
      byPath.set(key, [...(byPath.get(key) ?? []), title]);
    }
  }
  const all = Object.keys(PLATFORMS).length;
  return [...byPath].map(
    ([key, titles]) => `- ${key}${titles.length === all ? "" : `: ${titles.join(", ")}`}`,
  );
}

function machine(platform: NodeJS.Platform): ClientMachine {
  return { home: "~", platform, env: { APPDATA: "%APPDATA%" }, project: "." };
}
