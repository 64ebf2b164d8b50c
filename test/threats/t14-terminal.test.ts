import { join } from "node:path";
import { expect, test } from "vitest";
import { write } from "../clients/kit.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { openProgram } from "./program.ts";

const PLANTED = [
  "argument-s3cret-1",
  "joined-s3cret-2",
  "inline-s3cret-3",
  "address-s3cret-4",
  "query-s3cret-5",
  "header-s3cret-6",
  "variable-s3cret-7",
  "database-s3cret-8",
] as const;
const [argument, joined, inline, address, query, header, variable, database] = PLANTED;

const SERVERS = {
  local: {
    command: "sh",
    args: ["-c", `DB_PASSWORD=${inline} exec nothing "$@"`, "--token", argument, `--api-key=${joined}`],
    env: { MY_TOKEN: variable, DATABASE_URL: `postgres://me:${database}@db.example/x` },
  },
  remote: {
    url: `https://me:${address}@web.example/mcp?token=${query}`,
    headers: { Authorization: `Bearer ${header}` },
  },
};

const LINES: readonly (readonly string[])[] = [
  [],
  ["--json"],
  ["connect", "cursor", "--dry-run"],
  ["connect", "cursor", "--yes"],
  ["connect", "cursor", "--undo", "--dry-run"],
  ["connect", "windsurf", "--all", "--dry-run"],
  ["servers"],
  ["servers", "local"],
  ["servers", "--json"],
  ["approve"],
  ["approve", "--json"],
  ["add", "mine", "--env", `MY_TOKEN=${variable}`, "--", "sh", "--token", argument],
  ["doctor"],
];

test.each(LINES.map((args) => [args.join(" "), args] as const))(
  "T14: keyhole %s prints no secret of a server's config",
  async (line, args) => {
    const home = temporaryFolder();
    const { keyhole } = openProgram({ home, folder: home });
    write(join(home, ".cursor", "mcp.json"), JSON.stringify({ mcpServers: SERVERS }));
    if (!/^$|^--json|cursor --dry-run|cursor --yes/.test(line))
      expect(await keyhole("connect", "cursor", "--yes")).toMatchObject({ code: 0 });
    const { out, errors } = await keyhole(...args);
    expect(
      PLANTED.filter((secret) => (out + errors).includes(secret)),
      out + errors,
    ).toEqual([]);
  },
);
