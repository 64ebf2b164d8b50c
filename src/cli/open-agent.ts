import { homedir } from "node:os";
import { join } from "node:path";
import { type Agent, createAgent } from "../agent/agent.ts";
import type { AgentEvent } from "../agent/agent-event.ts";
import { askPermission } from "../agent/ask.ts";
import type { Ask } from "../agent/ask-request.ts";
import { createDesk, DESK } from "../agent/desk/desk-domain.ts";
import type { PermissionMode } from "../agent/permissions/permission.ts";
import type { PermissionRules } from "../agent/permissions/permission-rules.ts";
import { createPermissions, type RuleStore } from "../agent/permissions/permissions.ts";
import type { AgentRecording } from "../agent/record-agent-events.ts";
import { tellRetry } from "../agent/run-context.ts";
import { createSessionLogs } from "../agent/session-log.ts";
import { type Checkpoints, createCheckpoints } from "../agent/workspace/checkpoints.ts";
import { workspaceDomain } from "../agent/workspace/workspace-domain.ts";
import { folderContents } from "../config/folder-contents.ts";
import { isTrusted, recordTrust } from "../config/folder-trust.ts";
import type { LoadedSettings } from "../config/load-settings.ts";
import { saveSetting } from "../config/save-setting.ts";
import { secretsOf } from "../config/secrets-of.ts";
import { settingsPath } from "../config/settings-path.ts";
import type { PermissionLists, Settings } from "../config/settings-schema.ts";
import { createGateway } from "../gateway.ts";
import type { Gateway } from "../gateway-api.ts";
import { createLLMClient } from "../models/llm-client.ts";
import { knowSecrets } from "../net/known-secrets.ts";
import { createDiskResultStore } from "../session/disk-result-store.ts";
import type { McpSource } from "../sources/mcp/mcp-source.ts";
import { secretVariables } from "../util/secret-values.ts";
import { toVisibleLine } from "../util/visible-text.ts";
import { createHooks } from "./hooks.ts";
import { closeAudit, openAudit, recordDecisions } from "./open-audit.ts";
import { openConfig } from "./open-config.ts";
import { openLearning } from "./open-learning.ts";
import { openSkills } from "./open-skills.ts";
import { chooseProvider, refuseFallback, telemetryName, withModel } from "./provider-in-use.ts";
import { readSystemPrompt } from "./system-prompt.ts";
import { cacheFolder } from "./user-folders.ts";

export interface OpenAgentOptions {
  /** The project's folder. */
  readonly folder: string;
  /** As for `keyhole serve`. Without it, the agent has the workspace and the servers of the settings. */
  readonly config?: string | undefined;
  readonly profile?: string | undefined;
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  /** Starts the servers of a JSON config, and accepts the definitions of all servers without approval. */
  readonly trust?: boolean;
  /** Runs tools that write without asking, also those of the project's files. Destructive tools always ask. */
  readonly allowWrite?: boolean;
  /** Rules that allow something for this run, beside those of the user. */
  readonly allow?: readonly string[];
  /** Asks a person. Without it, every question is answered with deny. */
  readonly ask?: Ask;
  /** Whether a person is asked to trust the folder while it opens. Default: true. */
  readonly asksTrust?: boolean;
  /** Files as they were before each turn, of an agent that was open before. */
  readonly checkpoints?: Checkpoints;
}

/** Results this long are shown whole; a read of a file has fewer. */
const RESULT_TOKENS = 10_000;

export interface OpenedAgent {
  readonly agent: Agent;
  readonly gateway: Gateway;
  readonly loaded: LoadedSettings;
  /** The MCP servers of the settings and the config. */
  readonly servers: readonly McpSource[];
  /** Files as they were before each turn. */
  readonly checkpoints: Checkpoints;
  /** Whether the person trusts the folder. */
  readonly trusted: boolean;
  /** The provider and model in use. */
  modelName(): string;
  /** The model alone, and the settings of all providers. */
  model(): string | undefined;
  /** Whether {@link setModel} has chosen it. */
  wasModelChosen(): boolean;
  providers(): Settings["providers"];
  /** The mode of the permissions now. */
  mode(): PermissionMode;
  setMode(mode: PermissionMode): void;
  /**
   * Changes to another model of the same provider, or by `provider/name` of another one.
   * @throws PROVIDER_NOT_SUPPORTED
   */
  setModel(name: string): void;
  /** Passes events on, and records them if telemetry is on. */
  observe(events: AsyncIterable<AgentEvent>): AsyncIterable<AgentEvent>;
  /** Stops everything and deletes large results. */
  close(): Promise<void>;
}

/** Opens the agent of `run` and `chat` from settings and config. */
export async function openAgent(options: OpenAgentOptions): Promise<OpenedAgent> {
  const { folder, trust = false, allowWrite = false, ask, asksTrust = true } = options;
  const opened = await openConfig({
    folder,
    config: options.config,
    profile: options.profile,
    trust,
    usesFolder: true,
    asksTrust,
    env: environment(options),
  });
  const { loaded, isFolderTrusted: trusted } = opened;
  const { settings } = loaded;
  refuseFallback(loaded, options);
  if (!trusted && asksTrust) await tellLeftOut(folder);
  const data = settings.agent.dataDir || join(homedir(), ".keyhole");
  const secrets = [...secretVariables(process.env), ...secretsOf(settings)];
  knowSecrets(secrets);
  const results = createDiskResultStore({ path: join(data, "context"), secrets });
  const checkpoints = options.checkpoints ?? createCheckpoints(folder);
  let mode: PermissionMode = "ask";
  const permissions = createPermissions({
    mode: () => mode,
    root: folder,
    user: withAllowed(toRules(settings.permissions.user), [
      ...(options.allow ?? []),
      ...(allowWrite ? ["fs-write(**)"] : []),
    ]),
    project: toRules(settings.permissions.project),
    ask: askPermission,
    ...(trusted && { store: projectRules(settings, folder) }),
  });
  const desk = createDesk(permissions);
  const { domains, sources, principal, ...config } = opened.options;
  const { skills, ...known } = await openSkills(settings.skills, folder, trusted);
  const audit = openAudit(settings.audit);
  const gateway = createGateway({
    results,
    ...(audit && { audit }),
    learning: openLearning(settings.learning),
    cacheDirectory: cacheFolder(),
    recipes: join(data, "recipes"),
    ...config,
    limits: { resultTokens: RESULT_TOKENS, ...config.limits },
    domains: [...domains, ...known.domains, workspaceDomain({ permissions, checkpoints }), desk.domain],
    sources: [...sources, ...known.sources],
    // Writing is allowed here because every call that writes asks first.
    principal: { id: "local", scopes: [], ...principal, allowWrite: true },
  });
  if (gateway.pins.damage) console.error(gateway.pins.damage);
  let providers = settings.providers;
  let wasModelChosen = false;
  const vendor = providers.default;
  const client = createLLMClient({
    config: () => ({ providers, retry: settings.retry, idleTimeoutMs: settings.agent.idleTimeoutMs }),
    callbacks: {
      onRetry: ({ attempt, delayMs, error, message }) =>
        tellRetry({ attempt, delayMs, reason: `${error}: ${message}` }),
    },
  });
  const telemetry = await telemetryOf(settings, secrets, {
    provider: telemetryName(vendor),
    server: client.getServerUrl(),
  });
  const { systemPrompt, maxSteps, maxTokens, maxRunTokens, temperature, contextWindow, effort } =
    settings.agent;
  const agent = createAgent({
    gateway,
    model: () => client.languageModel(),
    mode: settings.agent.mode,
    askingDomains: ["workspace", DESK],
    ...(settings.hooks.length > 0 && { hooks: createHooks(settings.hooks, folder) }),
    permissionMode: () => mode,
    ...(contextWindow !== undefined && { contextWindow }),
    ...(effort !== undefined && { effort }),
    ...(trusted && { folder }),
    userFolder: join(homedir(), ".keyhole"),
    writes: allowWrite ? "allow" : "ask",
    skills,
    maxSkills: settings.skills.maxSkills,
    enabledSkills: settings.skills.enabled ?? [],
    limits: { steps: maxSteps, ...(maxRunTokens !== undefined && { tokens: maxRunTokens }) },
    ...(maxTokens !== undefined && { maxTokens }),
    ...(temperature !== undefined && { temperature }),
    instructions: systemPrompt || (await readSystemPrompt(folder, trusted)),
    ...(ask && { ask }),
    ...(settings.session.keep && {
      sessions: createSessionLogs({
        path: join(data, "sessions"),
        folder,
        secrets,
        maxAgeDays: settings.session.maxAgeDays,
      }),
    }),
  });
  desk.use(agent);
  return {
    agent,
    gateway,
    loaded,
    trusted,
    checkpoints,
    servers: sources.filter((source): source is McpSource => "logIn" in source),
    model: () => client.getModelName(),
    wasModelChosen: () => wasModelChosen,
    providers: () => providers,
    modelName: () => [providers.default, client.getModelName()].filter(Boolean).join(" "),
    mode: () => mode,
    setMode: (next) => {
      mode = next;
    },
    setModel: (name) => {
      providers = withModel(...chooseProvider(providers, name));
      wasModelChosen = true;
    },
    observe: (events) => (telemetry ? observed(events, telemetry.record) : events),
    close: async () => {
      await desk.close();
      await gateway.close();
      await closeAudit(audit);
      await telemetry?.close();
      results.clear();
    },
  };
}

/** Loads telemetry only if it is on. */
async function telemetryOf(
  { telemetry }: Settings,
  secrets: readonly string[],
  model: Pick<AgentRecording, "provider" | "server">,
) {
  if (!telemetry.enabled) return undefined;
  const [{ startTelemetry }, { recordAgentEvents }] = await Promise.all([
    import("../config/start-telemetry.ts"),
    import("../agent/record-agent-events.ts"),
  ]);
  const started = await startTelemetry({ ...telemetry, secrets });
  if (!started) return undefined;
  const record = recordAgentEvents(started.recorder, { ...model, arguments: telemetry.arguments });
  return { record, close: started.close };
}

async function* observed(
  events: AsyncIterable<AgentEvent>,
  record: (event: AgentEvent) => void,
): AsyncGenerator<AgentEvent, void> {
  for await (const event of events) {
    record(event);
    yield event;
  }
}

/** Flags of the command line count as variables, so they override the files. */
function environment({ provider, model }: OpenAgentOptions): NodeJS.ProcessEnv {
  return {
    ...process.env,
    ...(provider && { KEYHOLE_PROVIDER: provider }),
    ...(model && { KEYHOLE_MODEL: model }),
  };
}

/** Tells that the model does not get the folder's instructions. */
async function tellLeftOut(folder: string): Promise<void> {
  const { texts } = await folderContents(folder);
  if (texts.length === 0) return;
  console.error(
    `${toVisibleLine(texts.join(", "))} left out, because nobody has trusted the folder: keyhole trust in a terminal shows what it holds and asks.`,
  );
}

/**
 * Saves rules in the project, because they name its files and commands. The person has just agreed to the rule, so
 * the folder stays trusted with it.
 */
function projectRules({ permissions }: Settings, folder: string): RuleStore {
  let allow: readonly string[] = permissions.project.allow;
  return {
    place: settingsPath(folder),
    allow: async (rules) => {
      allow = [...new Set([...allow, ...rules])];
      const wasTrusted = await isTrusted(folder);
      await saveSetting("permissions.allow", [...allow], { file: settingsPath(folder) });
      if (!wasTrusted) return;
      const contents = await folderContents(folder);
      await recordTrust(contents);
      await recordDecisions("allowed", "folder", [{ name: contents.folder, digest: contents.hash }]);
    },
  };
}

function withAllowed({ allow = [], ...rules }: PermissionRules, more: readonly string[]): PermissionRules {
  return { ...rules, allow: [...allow, ...more] };
}

function toRules({ allow, ask, deny }: PermissionLists): PermissionRules {
  return { allow: [...allow], ask: [...ask], deny: [...deny] };
}
