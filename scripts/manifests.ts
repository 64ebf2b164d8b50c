// The manifests by which others install Keyhole, all made from package.json: server.json for the MCP registry, the
// manifest of an MCPB bundle, and a Claude Code plugin with its marketplace.
import { z } from "zod";

export interface PackageFacts {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly keywords: readonly string[];
  readonly mcpName: string;
  readonly repository: { readonly type: string; readonly url: string };
  readonly engines: { readonly node: string };
}

const SERVE = ["serve"];
const TOOLS = [
  ["ask", "Finds tools, skills, prompts and documents for a need."],
  ["help", "Describes a domain, a group or one tool."],
  ["get", "Runs reading tools and loads documents."],
  ["exec", "Runs one tool."],
] as const;

// The public formats, as far as Keyhole uses them. Strict, so that a misspelt field fails the build. That of server.json
// follows schemas/2025-12-11/server.schema.json of github.com/modelcontextprotocol/static: the same patterns and
// limits. `npm run check -- manifests` has the readers of the others judge them.
const serverJson = z.strictObject({
  $schema: z.literal("https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"),
  name: z
    .string()
    .min(3)
    .max(200)
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  title: z.string().min(1).max(100),
  description: z.string().min(1).max(100),
  version: z
    .string()
    .max(255)
    .regex(/^\d+\.\d+\.\d+/),
  repository: z.strictObject({ url: z.url(), source: z.literal("github") }),
  packages: z.array(
    z.strictObject({
      registryType: z.literal("npm"),
      identifier: z.string(),
      version: z.string().regex(/^\d+\.\d+\.\d+/),
      runtimeHint: z.literal("npx"),
      transport: z.strictObject({ type: z.literal("stdio") }),
      packageArguments: z.array(z.strictObject({ type: z.literal("positional"), value: z.string() })),
    }),
  ),
});

const bundleManifest = z.strictObject({
  manifest_version: z.literal("0.3"),
  name: z.string(),
  display_name: z.string(),
  version: z.string(),
  description: z.string(),
  author: z.strictObject({ name: z.string() }),
  repository: z.strictObject({ type: z.string(), url: z.url() }),
  license: z.string(),
  keywords: z.array(z.string()),
  server: z.strictObject({
    type: z.literal("node"),
    entry_point: z.string(),
    mcp_config: z.strictObject({
      command: z.string(),
      args: z.array(z.string()),
      env: z.record(z.string(), z.string()),
    }),
  }),
  tools: z.array(z.strictObject({ name: z.string(), description: z.string() })),
  tools_generated: z.boolean(),
  compatibility: z.strictObject({
    platforms: z.array(z.enum(["darwin", "win32", "linux"])),
    runtimes: z.strictObject({ node: z.string() }),
  }),
});

const plugin = z.strictObject({
  name: z.string().regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/),
  version: z.string(),
  description: z.string(),
  author: z.strictObject({ name: z.string() }),
  repository: z.url(),
  license: z.string(),
  keywords: z.array(z.string()),
  mcpServers: z.record(
    z.string(),
    z.strictObject({ command: z.string(), args: z.array(z.string()), alwaysLoad: z.boolean() }),
  ),
});

const marketplace = z.strictObject({
  name: z.string().regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/),
  description: z.string(),
  owner: z.strictObject({ name: z.string() }),
  plugins: z.array(
    z.strictObject({ name: z.string(), source: z.string().startsWith("./"), description: z.string() }),
  ),
});

/** The files by their paths. Throws if one does not have the form that its readers expect. */
export function manifestFiles(facts: PackageFacts): Record<string, unknown> {
  const { name, version, description, license, keywords, mcpName } = facts;
  const url = facts.repository.url.replace(/^git\+/, "").replace(/\.git$/, "");
  const author = { name: "The Keyhole authors" };
  const short = description.length <= 100 ? description : `${description.slice(0, 99)}…`;
  return {
    "server.json": serverJson.parse({
      $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
      name: mcpName,
      title: "Keyhole",
      description: short,
      version,
      repository: { url, source: "github" },
      packages: [
        {
          registryType: "npm",
          identifier: name,
          version,
          runtimeHint: "npx",
          transport: { type: "stdio" },
          packageArguments: SERVE.map((value) => ({ type: "positional", value })),
        },
      ],
    }),
    "mcpb/manifest.json": bundleManifest.parse({
      manifest_version: "0.3",
      name,
      display_name: "Keyhole",
      version,
      description,
      author,
      repository: { type: "git", url },
      license,
      keywords,
      server: {
        type: "node",
        entry_point: "server/bin/keyhole.cjs",
        mcp_config: { command: "node", args: [`\${__dirname}/server/bin/keyhole.cjs`, ...SERVE], env: {} },
      },
      tools: TOOLS.map(([tool, says]) => ({ name: tool, description: says })),
      tools_generated: true,
      compatibility: { platforms: ["darwin", "win32", "linux"], runtimes: { node: facts.engines.node } },
    }),
    "plugin/.claude-plugin/plugin.json": plugin.parse({
      name,
      version,
      description,
      author,
      repository: url,
      license,
      keywords,
      mcpServers: {
        [name]: { command: "npx", args: ["-y", `${name}@${version}`, ...SERVE], alwaysLoad: true },
      },
    }),
    ".claude-plugin/marketplace.json": marketplace.parse({
      name: `${name}-marketplace`,
      description: "The plugin of Keyhole.",
      owner: author,
      plugins: [{ name, source: "./plugin", description: short }],
    }),
  };
}
