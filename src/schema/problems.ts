/**
 * Every problem Keyhole reports. `{word}` is filled in by whoever raises it. `docs/problems.md` is
 * generated from this table.
 */
export const PROBLEMS = {
  NOT_FOUND: {
    sentence: "There is no {name} here.",
    next: "Check the spelling against the nearest names, or call ask to find it.",
    when: "A route, op or help path names nothing that the caller may see.",
  },
  INVALID_INPUT: {
    sentence: "The input of {operation} is not right: {reason}.",
    next: "Correct the named fields and call again.",
    when: "The input of an operation itself (not of a tool) does not fit its schema.",
  },
  INVALID_PARAMS: {
    sentence: "The params for {name} do not fit its schema.",
    next: "Correct the fields in field_errors, following the schema and the example, and call get again.",
    when: "`get` was called with params that the entry's schema refuses.",
  },
  VALIDATION_ERROR: {
    sentence: "The args for {name} do not fit its schema.",
    next: "Correct the fields in field_errors, following the schema and the example, and call exec again.",
    when: "`exec` was called with args that the tool's schema refuses.",
  },
  ACCESS_DENIED: {
    sentence: "{name} is in the {lane} lane, and get only reads.",
    next: "Call exec with the op in help_path.",
    when: "`get` was called with a tool that may change something.",
  },
  PERMISSION_DENIED: {
    sentence: "{name} is in the {lane} lane, and this caller may not write.",
    next: "Call exec with dry_run: true to see what it would do, or ask the owner to allow writing.",
    when: "`exec` of a write or destructive tool by a principal without allowWrite.",
  },
  APPROVAL_REQUIRED: {
    sentence: "{name} runs only after a person has approved this exact call.",
    next: "Call exec with dry_run: true to show what it would do, and have the person approve it.",
    when: "A tool requires confirmation and the approver refused, or there is none.",
  },
  UNAVAILABLE: {
    sentence: "{name} exists but cannot be used now ({state}): {reason}",
    next: "Use another entry, or tell the person what is needed to make it available.",
    when: "An entry's source is down, wants a login, is quarantined, or gave a definition that was refused.",
  },
  CONFLICT: {
    sentence: "{reason}",
    next: "Read the current state again, then decide whether to repeat the call.",
    when: "An idempotency key was used with other args, or a tool found that its subject has changed.",
  },
  TIMEOUT: {
    sentence: "{name} did not answer within {ms} ms.",
    next: "Do not repeat a write blindly: read first whether it took effect, or ask for less.",
    when: "A tool or resource ran longer than its limit. Its AbortSignal was raised.",
  },
  CANCELLED: {
    sentence: "{name} was cancelled by the caller.",
    next: "Call again if the answer is still wanted.",
    when: "The caller's AbortSignal was raised while the call ran.",
  },
  INTERNAL: {
    sentence: "{name} failed: {reason}",
    next: "Read its help for what it expects; if the args are right, report the trace id.",
    when: "A tool or resource threw, or Keyhole itself failed.",
  },
  RESULT_INVALID: {
    sentence: "{name} returned something that is not JSON: {reason}.",
    next: "Report it to the tool's author: the call itself may have taken effect.",
    when: "A result has a cycle, is nested too deeply, or throws while it is read.",
  },
  LIMIT_EXCEEDED: {
    sentence: "{what} is {actual}, and the limit is {limit}.",
    next: "Send less in one call.",
    when: "A request is larger than Keyhole accepts.",
  },
  UNKNOWN_HANDLE: {
    sentence: "The handle {handle} is not known.",
    next: "Handles expire and belong to who got them: make the call that gave it again.",
    when: "A session or result handle is expired, made up, or another principal's.",
  },
  REFERENCE_FAILED: {
    sentence: "The reference to {reference} has no value: {reason}.",
    next: "Refer to an earlier request that succeeds, with a JSON pointer into its result.",
    when: "A batch request refers to a result that is not there.",
  },
  SCHEMA_REJECTED: {
    sentence: "The schema is refused: {reason}.",
    next: "Make the schema smaller or flatter; the entry stays listed as invalid until then.",
    when: "An input schema is too large, too deep, refers to itself without end, or does not compile.",
  },
  CATALOG_INVALID: {
    sentence: "The catalog cannot be built: {count} things to correct.\n{list}",
    next: "Correct what is listed; each line says where to look.",
    when: "Definitions contradict themselves or each other. All errors are reported at once.",
  },
  REGISTRY_INVALID: {
    sentence: "The registry file {path} cannot be used: {reason}.",
    next: "Write it again from the running gateway.",
    when: "A registry file is damaged, of another format, or its version does not fit its content.",
  },
  CONFIG_INVALID: {
    sentence: "The config {path} cannot be used: {reason}.",
    next: "Name a module that exports domains (made with defineDomain) or sources.",
    when: "`keyhole serve` finds no config, cannot load it, or finds nothing to serve in it.",
  },
  CLOSED: {
    sentence: "The gateway is closed.",
    next: "Create a new gateway.",
    when: "An operation was called after close().",
  },
} as const satisfies Record<string, { sentence: string; next: string; when: string }>;

export type ProblemCode = keyof typeof PROBLEMS;
