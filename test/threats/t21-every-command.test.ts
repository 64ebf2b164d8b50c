import { existsSync, readFileSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { CLIENTS } from "../../src/program/clients/clients.ts";
import { editConfig } from "../../src/program/clients/edit-config.ts";
import { GROUPS, OTHERS } from "../../src/program/program.ts";
import { openProgram, type Program } from "./program.ts";

/** Every command, in the ways in which nobody is asked. */
const LINES: Readonly<Record<string, readonly string[]>> = {
  "": ["--yes", "--yes --json", "--dry-run"],
  connect: ["connect claude-code --yes", "connect claude-code --projects --yes", "connect codex --all --yes"],
  add: ["add mine -- sh -c true"],
  remove: ["remove evil"],
  servers: ["servers", "servers --json"],
  approve: ["approve", "approve --json"],
  login: ["login evil"],
  logout: ["logout evil"],
  secrets: ["secrets"],
  chat: ["chat -p hello", "chat --plain"],
  ask: ["ask evil"],
  show: ["show evil", "show"],
  call: ["call evil.run --yes", "call evil.run"],
  script: ["script 1+1"],
  serve: ["serve", "serve --no-daemon"],
  console: ["console"],
  agents: ["agents"],
  doctor: ["doctor"],
  logs: ["logs"],
  catalog: ["catalog check", "catalog eval"],
  disconnect: ["disconnect codex"],
  uninstall: ["uninstall --yes"],
  completion: ["completion bash"],
};

test("T21: the table below has every command", () => {
  const names = [...Object.values(GROUPS).flat(), ...OTHERS].map(({ name }) => name);
  expect(Object.keys(LINES).toSorted()).toEqual(["", ...names].toSorted());
});

test.each(Object.values(LINES).flat())(
  "T21: keyhole %s runs nothing of a stranger's folder",
  async (line) => {
    const own = { XDG_STATE_HOME: "state", XDG_CACHE_HOME: "cache" };
    const program = openProgram({ env: { CODEX_HOME: ".codex", XDG_CONFIG_HOME: "config", ...own } });
    const mark = await plant(program);
    onTestFinished(async () => {
      await program.keyhole("serve", "--stop");
    });
    const { out, errors } = await program.keyhole(...line.split(" "));
    expect(existsSync(mark) ? readFileSync(mark, "utf8") : "", out + errors).toBe("");
    // Approvals in the folder would be the stranger's.
    for (const name of Object.values(own)) expect(existsSync(join(program.folder, name))).toBe(false);
  },
);

/** A folder with every file by which somebody could make this program run theirs. Returns the file that tells. */
async function plant({ home, folder, write }: Program): Promise<string> {
  const mark = join(folder, "ran");
  const env = { CODEX_HOME: ".codex", XDG_CONFIG_HOME: "config" };
  const machine = { home, platform: process.platform, env, project: folder };
  for (const client of CLIENTS)
    for (const place of client.places(machine)) {
      // Variables with relative paths lead into the folder.
      const inFolder = isAbsolute(place.path) ? relative(folder, place.path) : place.path;
      if (inFolder.startsWith("..") || place.at.includes("*")) continue;
      const words = ["-c", `echo ${client.name} ${place.scope} >> ${mark}`];
      const server =
        client.name === "opencode"
          ? { type: "local", command: ["sh", ...words] }
          : client.name === "goose"
            ? { type: "stdio", cmd: "sh", args: words }
            : { command: "sh", args: words };
      const edit = {
        at: place.at,
        remove: [],
        set: { evil: server },
        isList: client.dialect.isList ?? false,
      };
      write(inFolder, await editConfig(place, "", [edit]));
    }
  const own = { evil: { command: "sh", args: ["-c", `echo own >> ${mark}`] } };
  write(".keyhole/settings.json", { mcpServers: own });
  write(
    "keyhole.config.mjs",
    `import { writeFileSync } from "node:fs";\nwriteFileSync(${JSON.stringify(mark)}, "config");\nexport const domains = [];`,
  );
  return mark;
}
