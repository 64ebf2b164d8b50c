const TASKS = "Tasks are an extension that the server does not offer.";

/** Scenarios that fail, and why they may. One that passes must go from here. None of them is scored. */
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
    "http-custom-header-server-validation":
      "Arguments are read from the body only; headers that repeat them are not compared with it.",
  },
  "2025-11-25": {},
};
