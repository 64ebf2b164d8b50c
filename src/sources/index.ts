export type { GuardedFetch, GuardOptions } from "../net/guarded-fetch.ts";
export { createGuardedFetch } from "../net/guarded-fetch.ts";
export type { GuardedRequest } from "../net/guarded-request.ts";
export type { Secret } from "../net/secret.ts";
export { createClickUpDocFormat } from "./content/formats/clickup-doc-format.ts";
export { createClickUpTaskFormat } from "./content/formats/clickup-task-format.ts";
export { createCommitFormat } from "./content/formats/commit-format.ts";
export { createMarkdownFormat } from "./content/formats/markdown-format.ts";
export { createPrFormat } from "./content/formats/pr-format.ts";
export { createQaseSuiteFormat } from "./content/formats/qase-suite-format.ts";
export { createTableSchemaFormat } from "./content/formats/table-schema-format.ts";
export { createTextFormat } from "./content/formats/text-format.ts";
export type { FormatOptions } from "./content/formats/to-node.ts";
export type { ClickUpKind, ClickUpSourceOptions } from "./content/sources/clickup-source.ts";
export { createClickUpSource } from "./content/sources/clickup-source.ts";
export type { DriveSourceOptions } from "./content/sources/drive-source.ts";
export { createDriveSource } from "./content/sources/drive-source.ts";
export type { GitHubKind, GitHubSourceOptions } from "./content/sources/github-source.ts";
export { createGitHubSource } from "./content/sources/github-source.ts";
export type { ServiceAccount } from "./content/sources/google-auth.ts";
export type { HttpOptions } from "./content/sources/http-client.ts";
export type { LocalSourceOptions } from "./content/sources/local-source.ts";
export { createLocalSource } from "./content/sources/local-source.ts";
export type { PostgresSourceOptions } from "./content/sources/postgres-source.ts";
export { createPostgresSource } from "./content/sources/postgres-source.ts";
export type { QaseSourceOptions } from "./content/sources/qase-source.ts";
export { createQaseSource } from "./content/sources/qase-source.ts";
export type {
  MarkdownDiagnostics,
  MarkdownSource,
  MarkdownSourceOptions,
} from "./markdown/markdown-source.ts";
export { createMarkdownSource } from "./markdown/markdown-source.ts";
export type {
  SkillDisclosure,
  SkillDisclosureOptions,
  SkillTier,
} from "./markdown/skills/disclose-skills.ts";
export { discloseSkills } from "./markdown/skills/disclose-skills.ts";
export type { SkillsRead } from "./markdown/skills/read-skills.ts";
export { readSkills } from "./markdown/skills/read-skills.ts";
export type {
  RefusedSkill,
  Skill,
  SkillFields,
  SkillFile,
  SkillOrigin,
  SkillPlace,
  SkillTriggers,
  TriggerPattern,
} from "./markdown/skills/skill.ts";
export type { SkillDraftOptions } from "./markdown/skills/skill-drafts.ts";
export { skillDrafts } from "./markdown/skills/skill-drafts.ts";
export type { SkillPlacesOptions } from "./markdown/skills/skill-places.ts";
export { skillPlaces } from "./markdown/skills/skill-places.ts";
export type { McpServerConfig } from "./mcp/config/server-config.ts";
export type { McpDiagnostics } from "./mcp/follow-upstream.ts";
export { fromMcpConfig } from "./mcp/from-mcp-config.ts";
export type { LogInOptions } from "./mcp/login/log-in.ts";
export type { Challenge, KeptLogin, Logins } from "./mcp/login/logins.ts";
export { createLogins } from "./mcp/login/logins.ts";
export type { McpSource, McpSourceOptions } from "./mcp/mcp-source.ts";
export { createMcpSource } from "./mcp/mcp-source.ts";
export type { UpstreamDiagnostics } from "./mcp/upstream.ts";
export type { UpstreamLimits } from "./mcp/upstream-limits.ts";
export type { ClientCredentials } from "./openapi/client-credentials.ts";
export type { OpenApiAuth } from "./openapi/credentials.ts";
export type { OpenApiOptions } from "./openapi/openapi-source.ts";
export { createOpenApiSource } from "./openapi/openapi-source.ts";
