import { z } from "zod";
import { createRecordStore, type RecordStore } from "./record-store.ts";

export const approvalSchema = z.object({
  hash: z.string(),
  definition: z.record(z.string(), z.unknown()),
  /** Milliseconds since 1970. */
  approvedAt: z.number(),
});

/** A definition that a person has approved. */
type PinApproval = Readonly<z.infer<typeof approvalSchema>>;

/** Approvals by program and route. */
export type PinStore = RecordStore<PinApproval>;

/** Keeps approvals by program and route, in a file if a path is given. */
export function createPinStore(path?: string): PinStore {
  return createRecordStore({
    path,
    format: 2,
    record: approvalSchema,
    counted: "approved",
    outdated: "has approvals that are not bound to a program",
  });
}
