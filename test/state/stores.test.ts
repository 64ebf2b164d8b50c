import { afterAll, describe, test } from "vitest";
import { describeConsents, describeDecisions, describeSharedDecisions } from "./decision-behaviours.ts";
import { describeIdempotency, describeSharedIdempotency } from "./idempotency-behaviours.ts";
import { describeLearningLog, describeSharedLearningLog } from "./learning-behaviours.ts";
import { closePostgres, FILES, MEMORY, NO_SERVER, PGLITE, SERVER } from "./open-state.ts";
import { describePlans, describeSharedPlans } from "./plan-behaviours.ts";
import { describeResults, describeSharedResults } from "./result-behaviours.ts";
import { describeSessions, describeSharedSessions } from "./session-behaviours.ts";

afterAll(closePostgres);

for (const kind of [MEMORY, FILES, PGLITE, ...(SERVER ? [SERVER] : [])]) {
  describe(`state in ${kind.name}`, () => {
    describeSessions(kind);
    describeResults(kind);
    describePlans(kind);
    describeIdempotency(kind);
    describeDecisions(kind);
    describeLearningLog(kind);
  });
}

describe("several gateways over files", () => {
  describeSharedSessions(FILES);
  describeSharedPlans(FILES);
  describeConsents(FILES);
});

for (const kind of [PGLITE, ...(SERVER ? [SERVER] : [])]) {
  describe(`several gateways over ${kind.name}`, () => {
    describeSharedSessions(kind);
    describeSharedResults(kind);
    describeSharedPlans(kind);
    describeSharedIdempotency(kind);
    describeSharedDecisions(kind);
    describeConsents(kind);
    describeSharedLearningLog(kind);
  });
}

if (!SERVER) {
  console.info(`state in a PostgreSQL server (${NO_SERVER})`);
  test.skip(`state in a PostgreSQL server (${NO_SERVER})`, () => {});
}
