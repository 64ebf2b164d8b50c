const TASKS = "Tasks are an extension that the server does not offer.";

/** Scenarios that may fail, with the reason. Remove one as soon as it passes. None of them is scored. */
export const EXPECTED_FAILURES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "2026-07-28": {
    "tasks-lifecycle": TASKS,
    "tasks-capability-negotiation": TASKS,
    "tasks-wire-fields": TASKS,
    "tasks-request-state-removal": TASKS,
    "tasks-mrtr-input": TASKS,
    "tasks-request-headers": TASKS,
    "tasks-dispatch-and-envelope": TASKS,
    "tasks-required-task-error": TASKS,
    "tasks-mrtr-composition": TASKS,
  },
  "2025-11-25": {},
};

const UNKNOWN_TOOL =
  "The reference has no such tool and says so in a result, which passes; a gateway refuses unknown names as the protocol says.";

/** Scenarios that pass directly and may fail through a gateway, by case, with the reason. */
export const LOST_THROUGH: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "through-gateway": { "tools-call-simple-text": UNKNOWN_TOOL, "tools-call-error": UNKNOWN_TOOL },
};

const DPOP = "An extension: tokens are not bound to a key.";

/** Scenarios that our upstream client may fail, by case, with the reason. */
export const CLIENT_FAILURES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "client-auth": {
    "auth/dpop": DPOP,
    "auth/dpop-nonce": DPOP,
    "auth/enterprise-managed-authorization": "An extension: no identity provider of a company is asked.",
    "auth/wif-jwt-bearer": "An extension: no identity of a workload is exchanged for a token.",
  },
  client: {
    "json-schema-2020-12-preservation": "Not scored, added after the revision; the cause is not known yet.",
  },
};
