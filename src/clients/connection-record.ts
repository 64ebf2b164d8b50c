import { z } from "zod";

export const editSchema = z.object({
  at: z.array(z.string()),
  remove: z.array(z.string()),
  set: z.record(z.string(), z.record(z.string(), z.unknown())),
  isList: z.boolean().optional(),
});

const fileSchema = z.object({
  path: z.string(),
  format: z.enum(["json", "toml", "yaml"]),
  before: z.string().optional(),
  after: z.string(),
  edits: z.array(editSchema),
  /** The client's file as it was; undefined if there was none. */
  backup: z.string().optional(),
});

export const recordSchema = z.object({
  format: z.literal(1),
  client: z.string(),
  files: z.array(fileSchema),
  own: fileSchema.optional(),
  /** The names of the servers in Keyhole's config that the client uses. */
  uses: z.array(z.string()),
  /** Those among them that leave Keyhole's config with the client. */
  added: z.array(z.string()),
});

/** A connection as it is kept on disk. */
export type Recorded = z.output<typeof recordSchema>;
export type RecordedFile = z.output<typeof fileSchema>;
