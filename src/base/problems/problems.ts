import type { ProblemRow } from "./format-message.ts";
import { SCRIPT_PROBLEMS } from "./script-problems.ts";
import { SERVER_PROBLEMS } from "./server-problems.ts";
import { TEAM_PROBLEMS } from "./team-problems.ts";

/**
 * Every problem that Keyhole reports. Code that raises one fills in each `{word}`; the surface fills in roles such as
 * `{exec}`. `docs/problems.md` is generated from this table.
 */
export const PROBLEMS = {
  NOT_FOUND: {
    sentence: "{name} not found.",
    next: ["Check the spelling.", "Or find it with {ask}."],
    when: "A route, op or help path names nothing that the caller may see.",
  },
  INVALID_INPUT: {
    sentence: "The input of {operation} is invalid: {reason}.",
    next: "Correct the named fields and call again.",
    when: "The input of an operation itself (not of a tool) does not fit its schema.",
  },
  INVALID_PARAMS: {
    sentence: "The params for {name} do not fit its schema.",
    next: "Correct the fields in field_errors, following the schema and the example, and call again.",
    when: "An entry was called with params that its schema refuses.",
  },
  ACCESS_DENIED: {
    sentence: "{name} {does}, and this tool only reads.",
    next: "Call it with {exec}.",
    when: 'A tool that may change something was called through an operation that only reads. With `missingScope: "ACCESS_DENIED"` also: the caller lacks a scope of the entry.',
  },
  SEES_ONLY: {
    sentence: "{name} was not done: a caller that looks as another one only searches and runs tools dry.",
    next: "Do it as yourself.",
    when: "The HTTP API was asked with `as` to load a document or to run a script.",
  },
  PERMISSION_DENIED: {
    sentence: "{name} {does}, and this caller may not write.",
    next: ["Use {exec} with {dry_run} to see what it would do.", "{allow_write}"],
    when: "A write or destructive tool was called by a principal without allowWrite.",
  },
  APPROVAL_REQUIRED: {
    sentence:
      "{name} runs only after a person has approved this exact call{because}, and nobody could be asked.",
    next: ["Use {exec} with {dry_run} to see what it would do.", "{find_approver}"],
    when: "A call needs approval, and there is nobody to give it.",
  },
  APPROVAL_DECLINED: {
    sentence: "The person declined {name}{said}.",
    next: "Do not repeat the call: do what they say, or else go on without it or ask.",
    when: "A person was asked to approve a call and said no.",
  },
  UNAVAILABLE: {
    sentence: "{name} exists but cannot be used now ({state}): {reason}",
    next: "Use another entry, or tell the person what is needed to make it available.",
    when: "An entry's source is down, wants a login, is quarantined, or gave a definition that was refused.",
  },
  CONFLICT: {
    sentence: "{reason}",
    next: "Read the current state again, then decide whether to repeat the call.",
    when: "An idempotency key was used with other args, a tool found that its subject has changed, or a domain insists on a read before the write.",
  },
  KEYS_EXHAUSTED: {
    sentence: "{name} did not run: there is no room for another idempotency key of this caller.",
    next: [
      "Wait: each key is kept for {hours} hours.",
      "Or call again without a key, if it does no harm when the call runs twice.",
    ],
    when: "A call with a new idempotency key cannot be promised to run only once.",
  },
  AUDIT_FAILED: {
    sentence: "The audit log in {path} cannot be written: {reason}.",
    next: "Free space or correct the rights of the folder. The log goes on by itself.",
    when: "The audit log cannot be written. Calls that write are refused if the log is set to fail closed.",
  },
  OUTCOME_UNKNOWN: {
    sentence:
      "{name} may have run: the gateway that ran it with this idempotency key ended before it answered.",
    next: [
      "Read whether it took effect.",
      "If it did not, call again with a new key: this key never runs the call again.",
    ],
    when: "A gateway was killed, or lost its database, while it ran a call with an idempotency key.",
  },
  STATE_UNREACHABLE: {
    sentence: "The gateway cannot reach the state that it shares with other gateways.",
    next: [
      "Before you repeat a write, read whether it took effect.",
      "Then call again in a few seconds; if it goes on, tell the owner of the gateway.",
    ],
    when: "The database of createPostgresState does not answer, or is a replica that may be behind.",
  },
  STATE_UNREADABLE: {
    sentence: "{path} cannot be used now: {reason}.",
    next: "Try again. If it goes on, the user has to make it readable and writable, on a disk with free space.",
    when: "The file of approvals, agents or secrets is locked, not readable, or on a full disk. It stays as it is, and nothing that needs it is allowed.",
  },
  TIMEOUT: {
    sentence: "{name} did not answer within {ms} ms.",
    next: "Before you repeat a write, read whether it took effect. A smaller request may be fast enough.",
    when: "A tool or resource ran longer than its limit. Its AbortSignal was aborted.",
  },
  CANCELLED: {
    sentence: "{name} was cancelled by the caller.",
    next: "Call again if you still need the answer.",
    when: "The caller's AbortSignal was aborted during the call.",
  },
  INTERNAL: {
    sentence: "{name} failed: {reason}",
    next: "Read its help and check the args; if they are right, report this error.",
    when: "A tool or resource threw, or Keyhole itself failed.",
  },
  RESULT_INVALID: {
    sentence: "{name} returned something that is not JSON: {reason}.",
    next: "Report it to the tool's author. The call itself may have taken effect.",
    when: "A result has a cycle, is nested too deeply, or throws while it is read.",
  },
  LIMIT_EXCEEDED: {
    sentence: "{what} is {actual}, and the limit is {limit}.",
    next: "Send less in one call.",
    when: "A request is larger than Keyhole accepts.",
  },
  UNKNOWN_HANDLE: {
    sentence: "The handle {handle} is not known.",
    next: "Handles expire and belong to one caller. Repeat the call that returned it.",
    when: "A session or result handle is expired, made up, or another principal's.",
  },
  BUDGET_EXCEEDED: {
    sentence: "The session {handle} has used {used} tokens, and its budget is {limit}.",
    next: [
      "Read session://{handle} with {get}; this still works.",
      'Then continue in a new session, which session: "new" opens.',
    ],
    when: "A session has used up the tokens of `limits.sessionTokens`.",
  },
  REFERENCE_FAILED: {
    sentence: "The reference to {reference} has no value: {reason}.",
    next: "Refer to an earlier request that succeeds, with a JSON pointer into its result.",
    when: "A batch request refers to a result that does not exist.",
  },
  ...SCRIPT_PROBLEMS,
  SCHEMA_REJECTED: {
    sentence: "The schema is refused: {reason}.",
    next: "Make the schema smaller or flatter. Until then the entry is listed as invalid.",
    when: "An input schema is too large, too deep, refers to itself without end, or does not compile.",
  },
  CATALOG_INVALID: {
    sentence: "The catalog cannot be built: {problems}.\n{list}",
    next: "Correct every listed error; each line says where it is.",
    when: "Definitions contradict themselves or each other. All errors are reported at once.",
  },
  SOURCE_INVALID: {
    sentence: "The source {name} cannot be used: {reason}.",
    next: "Correct the source's document or options as the message says.",
    when: "The content of a source is damaged, of an unknown format, or lacks something that calls need.",
  },
  FILE_INVALID: {
    sentence: "{file}:{line}:{column}: {reason}.",
    next: "Correct the file at that place and save it.",
    when: "A settings file or a Markdown file's front matter cannot be read, or has invalid fields.",
  },
  FOLDER_NOT_TRUSTED: {
    sentence: "{file}:{line}:{column}: {setting} is ignored, because the project's folder is not trusted.",
    next: "A person has to run keyhole approve {folder} in a terminal: it shows what the folder would do and asks.",
    when: "The settings of a project would run commands, allow something, or lead requests elsewhere.",
  },
  CONFIG_NOT_TRUSTED: {
    sentence: "{path} is not run, because nobody has trusted its folder as it is now.",
    next: "A person has to run keyhole approve {folder} in a terminal: it shows what the folder would run and asks.",
    when: "A command stands in a folder with a config of its own, and no person has trusted what it holds.",
  },
  IMPORT_NOT_TRUSTED: {
    sentence: "{path} is not loaded: {importer} imports it, and it is not among the files that were trusted.",
    next: "Import it by a plain relative path, so that trust covers it, or name the config with --config.",
    when: "Code of a trusted folder imports a file by a computed name.",
  },
  PERSON_NEEDED: {
    sentence: "{action} needs a person, and there is no terminal to ask in.",
    next: "A person has to run the command in a terminal, or repeat it with --hash and the hash of what was shown.",
    when: "A command would trust, allow or approve something, and stdin or stdout is not a terminal.",
  },
  CALL_NEEDS_PERSON: {
    sentence: "{name} needs a person, and there is no terminal to ask in.",
    next: "A person has to type keyhole approve {name} in a terminal. No hash stands for them.",
    when: "keyhole approve names a call that waits, and stdin or stdout is not a terminal.",
  },
  NOT_FOR_SERVERS: {
    sentence: "{command} was started by a server or by a command of the agent, and acts for a person alone.",
    next: "A person has to run it in a terminal of their own.",
    when: "A server, a command of the agent or a program below them runs Keyhole.",
  },
  VARIABLE_INVALID: {
    sentence: "The environment variable {name} is ignored: {reason}.",
    next: "Correct it or unset it.",
    when: "A variable has a value that its setting does not allow.",
  },
  SKILL_REFUSED: {
    sentence: "The skill, or a file of it, is refused: {reason}.",
    next: "Tell the person to correct the skill's folder as the message says.",
    when: "A skill's files are too many or too large, lead out of its folder, or changed since they were listed.",
  },
  REQUEST_REFUSED: {
    sentence: "The request to {where} was not sent: {reason}.",
    next: "Use a public https address. The owner of the source can allow a private host by name.",
    when: "An outgoing request would reach a private address, another origin, or go without TLS.",
  },
  ...SERVER_PROBLEMS,
  CONFIG_INVALID: {
    sentence: "The config {path} cannot be used: {reason}.",
    next: "{step}",
    when: "`keyhole serve` finds no config, cannot load it, or finds nothing to serve in it.",
  },
  NO_SERVERS: {
    sentence: "Keyhole has no servers yet.",
    next: "`keyhole` finds those of your MCP clients, `keyhole add NAME -- COMMAND` adds one, and `--config FILE` names a config.",
    when: "A command needs a catalog, but no config is named, the folder has none, and the settings name no servers.",
  },
  CLIENT_CONFIG_INVALID: {
    sentence: "{path} cannot be used: {reason}.",
    next: "Nothing was written. Correct the file, or put the entry in by hand: docs/clients.md has one for each client.",
    when: "`keyhole connect` cannot read a client's config, or cannot change it without breaking it.",
  },
  CONNECTION_CHANGED: {
    sentence: "{path} has changed so much since it was connected that Keyhole cannot undo its part.",
    next: "Take what you need from the backup: {backup}.",
    when: "`keyhole connect --undo` finds a config whose entry of Keyhole was edited.",
  },
  GATEWAY_UNREACHABLE: {
    sentence: "No gateway answers at {url}: {reason}.",
    next: "Check the address and the token (KEYHOLE_TOKEN), or leave out the address to use a config.",
    when: "A command names the address of a running gateway, and nothing there speaks MCP to it.",
  },
  ADDRESS_UNAVAILABLE: {
    sentence: "The server cannot listen at {address}: {reason}.",
    next: "Choose another port or host (--port, --host), or leave them out for a free port of this machine.",
    when: "The port is in use or not allowed, or the host is no address of this machine.",
  },
  ...TEAM_PROBLEMS,
  PACKAGE_MISSING: {
    sentence: "{feature} needs the package {name}, which is not installed.",
    next: "Install it beside Keyhole: npm install {name}. The program also looks in your own folder: npm install --prefix ~/.keyhole {name}",
    when: "A feature is used without the optional package that it needs.",
  },
  // Models and workspace tools. They also raise others of this table, such as RATE_LIMITED, TIMEOUT and NOT_FOUND.
  PROVIDER_NOT_CONFIGURED: {
    sentence: "The provider {name} is not configured: {reason}",
    next: "Complete the provider's part of the settings, as the message says.",
    when: "A provider's config is incomplete or wrong, its address is refused, or its package is missing.",
  },
  PROVIDER_NOT_SUPPORTED: {
    sentence: "Provider {name} not found.{hint} Providers: {known}.",
    next: "Name one of these providers in providers.default.",
    when: "The config names a provider that does not exist.",
  },
  AUTHENTICATION_ERROR: {
    sentence: "{name}: {reason}",
    next: "Check the provider's key or login, and its rights.",
    when: "A provider refuses the credentials (401, 403), or a login has expired.",
  },
  MODEL_NOT_FOUND: {
    sentence: "{name}: {reason}",
    next: "Name a model or deployment that the provider has.",
    when: "The provider has no model of that name (404).",
  },
  CONTEXT_LENGTH_EXCEEDED: {
    sentence: "{name}: {reason}",
    next: "Start a new conversation, or ask for less at once.",
    when: "The prompt is longer than the model accepts (413).",
  },
  NETWORK_ERROR: {
    sentence: "{name}: {reason}",
    next: "Check the connection and the provider's address, then ask again.",
    when: "A provider cannot be reached, the connection breaks, or the provider fails (5xx).",
  },
  INVALID_RESPONSE: {
    sentence: "{name}: {reason}",
    next: "Ask again; if it fails again, try another model.",
    when: "A provider's answer is malformed or incomplete.",
  },
  IO_ERROR: {
    sentence: "{name}: {reason}",
    next: "Read the current state, then decide whether to repeat the call.",
    when: "The system refuses to read or write a file of the workspace.",
  },
  UNKNOWN: {
    sentence: "{name}: {reason}",
    next: "Try again; if it fails again, report the message.",
    when: "A model call or a workspace tool failed for a reason that has no other code, or was cancelled.",
  },
  COMMAND_FAILED: {
    sentence: "{output}",
    next: "",
    when: "A command ended with another exit code than 0, or was stopped. The message says how on its first line; the rest is the command's output.",
  },
  PERMISSIONS_INVALID: {
    sentence: "The permission rules of the {owner} cannot be used: {reason}.",
    next: "Correct them in the settings: lists allow, ask and deny of rules such as fs-write(src/**).",
    when: "The permissions of a settings file are malformed. Nothing is allowed until they are corrected.",
  },
  SESSION_UNKNOWN: {
    sentence: "Conversation {id} not found.",
    next: "List the conversations, or start a new one.",
    when: "A resumed conversation was never saved, or its file cannot be read.",
  },
  SESSION_NOT_KEPT: {
    sentence: "The conversation cannot be saved in {path}: {reason}.",
    next: "Make the folder writable or free space. Until then the conversation is only in memory.",
    when: "The file of a conversation cannot be written.",
  },
  SESSION_IN_USE: {
    sentence: "The conversation {id} is open in another process.",
    next: "Leave it there first, or start a new one.",
    when: "A conversation is resumed that another chat or run is using.",
  },
  SESSION_BUSY: {
    sentence: "The conversation {id} has a run in progress.",
    next: "Wait until it ends, or cancel it.",
    when: "A conversation is continued before its last run has ended.",
  },
  OUTPUT_INVALID: {
    sentence: "The model's answer does not fit the requested schema: {reason}.",
    next: "Ask again with a simpler schema or a stronger model. The text of the answer is kept.",
    when: "A run needs structured output, and the model's answer failed to fit the schema twice.",
  },
  ANSWER_CUT_OFF: {
    sentence: "The model's answer was cut off at its limit of tokens.",
    next: "Ask it to go on, or raise the limit (agent.maxTokens).",
    when: "A run ended with the finish reason length.",
  },
  ANSWER_FILTERED: {
    sentence: "The provider's content filter stopped the model's answer.",
    next: "Ask in other words, or use another model.",
    when: "A run ended with the finish reason content_filter.",
  },
  DAEMON_FAILED: {
    sentence: "The daemon of Keyhole cannot be used: {reason}.",
    next: "Serve without it (keyhole serve --no-daemon), or stop it (keyhole serve --stop) and try again.",
    when: "keyhole serve cannot reach or start the process that serves all clients.",
  },
  DAEMON_LOST: {
    sentence:
      "Keyhole ended while this call ran, and has been started again. The call may have had its effect.",
    next: "Check whether it had its effect. If not, repeat it. Handles of earlier answers may be gone.",
    when: "The daemon ended unexpectedly during a call.",
  },
  CLOSED: {
    sentence: "The gateway is closed.",
    next: "Create a new gateway.",
    when: "An operation was called after close().",
  },
} as const satisfies Record<string, ProblemRow>;

/** Sentences of APPROVAL_REQUIRED for a call that can be approved in another process. */
export const WAITING_CALL = {
  sentence: PROBLEMS.APPROVAL_REQUIRED.sentence,
  next: ["{approve_call}", "Then make exactly the same call again."],
} as const;

/** The code of a problem. */
export type ProblemCode = keyof typeof PROBLEMS;
