/** Defaults for fields that most entries leave empty. Drafts spread it first. */
export const BARE_ENTRY = {
  visibility: "listed",
  scopes: [],
  tags: [],
  aliases: [],
  phrases: [],
  related: [],
  guidance: [],
  examples: [],
  notes: [],
  metadata: {},
  inputSchema: { type: "object", properties: {} },
} as const;
