/** The fields of an entry that most leave empty: drafts start from it and name what they have. */
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
