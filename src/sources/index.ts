export type { GuardedFetch, GuardedRequest, GuardOptions } from "./guarded-fetch/guarded-fetch.ts";
export { createGuardedFetch } from "./guarded-fetch/guarded-fetch.ts";
export type {
  MarkdownDiagnostics,
  MarkdownSource,
  MarkdownSourceOptions,
} from "./markdown/markdown-source.ts";
export { createMarkdownSource } from "./markdown/markdown-source.ts";
export type {
  Disclosure,
  DisclosureOptions,
  DisclosureTier,
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
export { fromMcpConfig } from "./mcp/from-mcp-config.ts";
export type { McpDiagnostics } from "./mcp/mcp-run.ts";
export type { McpSource, McpSourceOptions } from "./mcp/mcp-source.ts";
export { createMcpSource } from "./mcp/mcp-source.ts";
export type { McpServerConfig } from "./mcp/server-config.ts";
export type { UpstreamDiagnostics, UpstreamLimits } from "./mcp/upstream.ts";
export type { ClientCredentials } from "./openapi/client-credentials.ts";
export type { OpenApiAuth } from "./openapi/credentials.ts";
export type { OpenApiOptions } from "./openapi/openapi-source.ts";
export { createOpenApiSource } from "./openapi/openapi-source.ts";
export type { Secret } from "./openapi/secret.ts";
