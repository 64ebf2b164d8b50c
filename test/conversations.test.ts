import { expect, test } from "vitest";
import { conversationRows } from "../bench/conversations.ts";
import { loadTokenCounter } from "../src/util/tokens.ts";

const LEAST = { "type-A": 0.95, "type-B": 0.9, "type-C": 0.85 };

test("what discovered tools save of listing everything, for a request and for ten turns", async () => {
  const rows = await conversationRows(await loadTokenCounter());
  for (const [type, least] of Object.entries(LEAST)) {
    for (const metric of ["request_saved", "ten_turns_saved"]) {
      const row = rows.find((one) => one.case === type && one.system === "discover" && one.metric === metric);
      expect(row?.value, `${type} ${metric}`).toBeGreaterThanOrEqual(least);
    }
  }
});
