/**
 * Who may import whom: imports point to a lower layer, and folders of one layer do not import each other.
 * A single file at the top of `src/` stands for itself.
 */
export const LAYERS: readonly (readonly string[])[] = [
  ["schema", "util"],
  ["net"],
  ["catalog", "search", "access", "session", "render", "guidance", "telemetry", "sources"],
  ["operations"],
  ["live-catalog.ts"],
  ["live-sources.ts"],
  ["gateway-api.ts"],
  ["gateway.ts"],
  ["toolbox.ts"],
  ["mcp", "ai-sdk", "plain-tools", "models", "config"],
  ["agent"],
  ["tui"],
  ["cli", "testing"],
  ["index.ts"],
];
