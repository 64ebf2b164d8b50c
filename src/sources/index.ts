export { contentFormats } from "./content/formats/content-formats.ts";
export type { FormatOptions } from "./content/formats/to-node.ts";
export type { ClickUpKind, ClickUpSourceOptions } from "./content/sources/clickup-source.ts";
export { contentSources } from "./content/sources/content-sources.ts";
export type { DriveSourceOptions, ServiceAccount } from "./content/sources/drive-source.ts";
export type { GitHubKind, GitHubSourceOptions } from "./content/sources/github-source.ts";
export type { LocalSourceOptions } from "./content/sources/local-source.ts";
export type { PostgresSourceOptions } from "./content/sources/postgres-source.ts";
export type { QaseSourceOptions } from "./content/sources/qase-source.ts";
export type { Isolation } from "./isolation/mounts.ts";
export type { IsolatedServer } from "./isolation/propose-limits.ts";
export type {
  MarkdownDiagnostics,
  MarkdownSource,
  MarkdownSourceOptions,
} from "./markdown/markdown-source.ts";
export { createMarkdownSource } from "./markdown/markdown-source.ts";
export type { SkillDisclosure, SkillDisclosureOptions } from "./markdown/skills/disclose-skills.ts";
export { discloseSkills } from "./markdown/skills/disclose-skills.ts";
export type { SkillsRead } from "./markdown/skills/read-skills.ts";
export { readSkills } from "./markdown/skills/read-skills.ts";
export type { Skill, SkillOrigin, SkillPlace } from "./markdown/skills/skill.ts";
export type { SkillDraftOptions } from "./markdown/skills/skill-drafts.ts";
export { skillDrafts } from "./markdown/skills/skill-drafts.ts";
export type { ToolOverride } from "./mcp/config/overrides.ts";
export type { ChangePolicy, McpServerConfig } from "./mcp/config/server-config.ts";
export type { ServerIsolation } from "./mcp/config/to-launch.ts";
export type { McpDiagnostics } from "./mcp/follow-upstream.ts";
export type { LogInOptions } from "./mcp/login/log-in.ts";
export type { Challenge, Logins, StoredLogin as KeptLogin } from "./mcp/login/logins.ts";
export { createLogins } from "./mcp/login/logins.ts";
export type { McpSource } from "./mcp/mcp-source.ts";
export { createMcpSource, fromMcpConfig } from "./mcp/mcp-source.ts";
export type { McpSourceOptions } from "./mcp/source-options.ts";
export type { UpstreamLimits } from "./mcp/upstream-target.ts";
export type { OpenApiAuth } from "./openapi/credentials.ts";
export type { OpenApiOptions } from "./openapi/openapi-source.ts";
export { createOpenApiSource } from "./openapi/openapi-source.ts";
export type { ServerSource } from "./servers/from-config.ts";
export { fromConfig } from "./servers/from-config.ts";
