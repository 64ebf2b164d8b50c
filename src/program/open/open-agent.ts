import { homedir } from "node:os";
import { join } from "node:path";
import type { ChatParts } from "../../agent/chat/chat-parts.ts";
import { createHooks } from "../../agent/chat/hooks.ts";
import { chooseProvider, telemetryName, withModel } from "../../agent/chat/model-lists.ts";
import { modelFor, readNamedAgents } from "../../agent/chat/named-agents.ts";
import { readSystemPrompt } from "../../agent/chat/system-prompt.ts";
import { createAgent } from "../../agent/loop/agent.ts";
import type { AgentEvent } from "../../agent/loop/agent-event.ts";
import type { AgentRecording } from "../../agent/loop/record-agent-events.ts";
import { tellRetry } from "../../agent/loop/run-context.ts";
import { createSessionLogs } from "../../agent/loop/session-log.ts";
import { createLLMClient } from "../../agent/models/llm-client.ts";
import type { ProviderSettings } from "../../agent/models/models-config.ts";
import { isProviderSupported, unknownProvider } from "../../agent/models/providers/providers.ts";
import type { PermissionMode } from "../../agent/permissions/permission.ts";
import { createPermissions, type RuleStore } from "../../agent/permissions/permissions.ts";
import { createAgentTools } from "../../agent/tools/agent-tools.ts";
import { type Checkpoints, createCheckpoints } from "../../agent/workspace/checkpoints.ts";
import { commandEnvironment } from "../../agent/workspace/command-environment.ts";
import { workspaceDomain } from "../../agent/workspace/workspace-domain.ts";
import { problem } from "../../base/problems/problem.ts";
import { knowSecrets } from "../../base/safety/known-secrets.ts";
import { secretVariables } from "../../base/safety/secret-values.ts";
import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { createDiskResultStore } from "../../core/storage/disk-result-store.ts";
import type { Telemetry } from "../../core/telemetry/start-telemetry.ts";
import type { ApprovalFace } from "../../gateway/approvals.ts";
import { pathsIn } from "../../sources/isolation/isolation.ts";
import type { McpSource } from "../../sources/mcp/mcp-source.ts";
import { settingsPath } from "./config-files.ts";
import { keepKey } from "./first-run.ts";
import { folderContents } from "./folder-contents.ts";
import { isTrusted } from "./folder-trust.ts";
import type { LoadedSettings } from "./load-settings.ts";
import { openConfig } from "./open-config.ts";
import { openGateway } from "./open-gateway.ts";
import { openSkills } from "./open-skills.ts";
import { openTelemetry } from "./open-telemetry.ts";
import { tellDamage } from "./person-grants.ts";
import type { ConfigOptions } from "./read-servers.ts";
import { readSettingsFile } from "./read-settings-file.ts";
import { saveSetting } from "./save-setting.ts";
import { openSecrets } from "./secrets.ts";
import { type Settings, secretsOf } from "./settings-schema.ts";
import { giveTrust, holdsNothing, trustRequest } from "./trust-folder.ts";
import { ownConfig, ownFolders } from "./user-folders.ts";

export interface OpenAgentOptions extends Pick<ConfigOptions, "config" | "profile" | "trust" | "asksTrust"> {
  readonly folder: string;
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  /** Runs tools that write without asking, also those of the project's files. Destructive tools always ask. */
  readonly allowWrite?: boolean;
  /** Rules that allow something for this run, beside those of the user. */
  readonly allow?: readonly string[];
  /** Asks about servers that wait. Only the chat does. */
  readonly approve?: (
    face: ApprovalFace,
    servers: readonly string[],
    config: string | undefined,
  ) => Promise<void>;
  /** Files as they were before each turn, of an agent that was open before. */
  readonly checkpoints?: Checkpoints;
}

/** Results this long are shown whole; a read of a file has fewer. */
const RESULT_TOKENS = 10_000;

export interface OpenedAgent extends ChatParts {
  readonly loaded: LoadedSettings;
}

/** Opens the agent of `run` and `chat` from settings and config. */
export async function openAgent(given: OpenAgentOptions): Promise<OpenedAgent> {
  const options = withProvider(given);
  const { folder, allowWrite = false, asksTrust = true } = options;
  const opened = await openConfig({
    ...options,
    usesFolder: true,
    asksTrust,
    env: environment(options),
    // The keys of the agent's models are in its environment.
    servers: { inherits: "few" },
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
  // Its warnings would be written over the screen. The agent tells those that matter.
  globalThis.AI_SDK_LOG_WARNINGS = false;
  let mode: PermissionMode = "ask";
  // A folder that holds nothing has nothing that the person could have refused.
  const keepsRules = trusted || holdsNothing(await trustRequest(folder));
  const permissions = openPermissions(options, settings, keepsRules, () => mode);
  const variables = commandEnvironment(process.env, settings.agent.environment, secretsOf(settings));
  const helpers = await readNamedAgents([...(trusted ? [folder] : []), homedir()]);
  let providers = settings.providers;
  const openModels = (config: () => ProviderSettings) =>
    createLLMClient({
      config: () => ({
        providers: config(),
        retry: settings.retry,
        idleTimeoutMs: settings.agent.idleTimeoutMs,
      }),
      callbacks: {
        onRetry: ({ attempt, delayMs, error, message }) =>
          tellRetry({ attempt, delayMs, reason: `${error}: ${message}` }),
      },
    });
  const desk = createAgentTools({
    permissions,
    environment: variables,
    helpers,
    modelNamed: (given) => {
      const name = modelFor(given, providers.default);
      if (name === undefined) return undefined;
      const other = openModels(() => withModel(...chooseProvider(providers, name)));
      return () => other.languageModel();
    },
  });
  const { domains, sources, ...config } = opened.options;
  const { skills, ...openedSkills } = await openSkills(settings.skills, folder, trusted);
  const { gateway, close } = openGateway({
    options: {
      results,
      ...config,
      limits: { resultTokens: RESULT_TOKENS, lookTokens: RESULT_TOKENS, ...config.limits },
      domains: [
        ...domains,
        ...openedSkills.domains,
        workspaceDomain({
          permissions,
          checkpoints,
          environment: variables,
          ...isolationOf(settings, folder),
        }),
        desk.domain,
      ],
      sources: [...sources, ...openedSkills.sources],
    },
    settings,
    config: options.config ?? folder,
    recipes: opened.recipes,
    profileName: options.profile,
    state: opened.state,
    isAgent: true,
    // Every call that writes asks first.
    allowWrite: true,
  });
  tellDamage(gateway.pins.damage);
  let wasModelChosen = false;
  let { effort } = settings.agent;
  const vendor = providers.default;
  const client = openModels(() => providers);
  const telemetry = await openTelemetry(settings);
  const server = client.getServerUrl();
  const record =
    telemetry && (await recorderOf(telemetry, settings, { provider: telemetryName(vendor), server }));
  const agent = createAgent({
    ...(await agentOptions(settings, { folder, trusted, data, secrets })),
    gateway,
    model: () => client.languageModel(),
    effort: () => effort,
    permissionMode: () => mode,
    permissions,
    writes: allowWrite ? "allow" : "ask",
    skills,
  });
  desk.use(agent);
  return {
    agent,
    gateway,
    loaded,
    trusted,
    checkpoints,
    helpers,
    approve: async (names, face) => options.approve?.(face, names, options.config),
    servers: sources.filter((source): source is McpSource => "logIn" in source),
    model: () => client.getModelName(),
    wasModelChosen: () => wasModelChosen,
    providers: () => providers,
    modelName: () => [providers.default, client.getModelName()].filter(Boolean).join(" "),
    mode: () => mode,
    setMode: (next) => {
      mode = next;
    },
    effort: () => effort,
    setEffort: (level) => {
      effort = level;
    },
    setModel: (name) => {
      providers = withModel(...chooseProvider(providers, name));
      wasModelChosen = true;
    },
    keepKey: async (provider, key) => {
      knowSecrets([key]);
      await keepKey(provider, key, { file: ownConfig(), secrets: openSecrets() });
      const { [provider as "openai"]: part } = providers;
      providers = { ...providers, [provider]: { ...part, apiKey: key } };
    },
    observe: (events) => (record ? observed(events, record) : events),
    close: async () => {
      await desk.close();
      await close();
      await telemetry?.close();
      results.clear();
    },
  };
}

function openPermissions(
  { folder, allow = [], allowWrite }: OpenAgentOptions,
  settings: Settings,
  keepsRules: boolean,
  mode: () => PermissionMode,
) {
  const { user, project } = settings.permissions;
  return createPermissions({
    mode,
    root: folder,
    user: { ...user, allow: [...user.allow, ...allow, ...(allowWrite ? ["fs-write(**)"] : [])] },
    project,
    store: keepsRules ? projectRules(settings, folder) : ownRules(folder),
  });
}

/** The part of an agent's options that the settings decide. */
async function agentOptions(
  settings: Settings,
  place: {
    readonly folder: string;
    readonly trusted: boolean;
    readonly data: string;
    readonly secrets: readonly string[];
  },
) {
  const { folder, trusted, data, secrets } = place;
  const { maxSteps, maxTokens, maxRunTokens, temperature, contextWindow } = settings.agent;
  return {
    mode: settings.agent.mode,
    ...(settings.hooks.length > 0 && { hooks: createHooks(settings.hooks, folder) }),
    ...(contextWindow !== undefined && { contextWindow }),
    ...(trusted && { folder }),
    userFolder: join(homedir(), ".keyhole"),
    maxSkills: settings.skills.maxSkills,
    enabledSkills: settings.skills.enabled ?? [],
    limits: { steps: maxSteps, ...(maxRunTokens !== undefined && { tokens: maxRunTokens }) },
    ...(maxTokens !== undefined && { maxTokens }),
    ...(temperature !== undefined && { temperature }),
    instructions: settings.agent.systemPrompt || (await readSystemPrompt(folder, trusted)),
    ...(settings.session.keep && {
      sessions: createSessionLogs({
        path: join(data, "sessions"),
        folder,
        secrets,
        maxAgeDays: settings.session.maxAgeDays,
      }),
    }),
  };
}

/** Records the events of an agent, if telemetry is on. */
async function recorderOf(
  telemetry: Telemetry,
  settings: Settings,
  model: Pick<AgentRecording, "provider" | "server">,
) {
  const { recordAgentEvents } = await import("../../agent/loop/record-agent-events.ts");
  return recordAgentEvents(telemetry.recorder, { ...model, arguments: settings.telemetry.arguments });
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
/** The limits of the agent's commands, unless the settings switch them off. */
function isolationOf({ agent: { sandbox = {} } }: Settings, folder: string) {
  if (sandbox === false) return {};
  const { folders = [], network = "all" } = sandbox;
  return { isolation: { open: pathsIn(folders, folder, homedir()), hidden: ownFolders(), network } };
}

/** A model with its provider in front (`anthropic/claude-sonnet-5`) names both, unless the provider is named apart. */
function withProvider(options: OpenAgentOptions): OpenAgentOptions {
  const { provider, model = "" } = options;
  const [first = "", ...rest] = model.split("/");
  if (provider !== undefined || rest.length === 0 || !isProviderSupported(first)) return options;
  return { ...options, provider: first, model: rest.join("/") };
}

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
    `${toVisibleLine(texts.join(", "))} left out, because nobody has trusted the folder: keyhole approve . in a terminal shows what it holds and asks.`,
  );
}

/**
 * Saves rules in the project, because they name its files and commands. The person has just agreed to the rule, so
 * the folder stays trusted with it; one that held nothing before is trusted from then on.
 */
function projectRules({ permissions }: Settings, folder: string): RuleStore {
  let allow: readonly string[] = permissions.project.allow;
  return {
    place: settingsPath(folder),
    allow: async (rules) => {
      allow = [...new Set([...allow, ...rules])];
      const wasTrusted = (await isTrusted(folder)) || holdsNothing(await trustRequest(folder));
      await saveSetting("permissions.allow", [...allow], { file: settingsPath(folder) });
      if (!wasTrusted) return;
      await giveTrust({ contents: await folderContents(folder), servers: [] });
    },
  };
}

/** Saves rules for a folder that is not trusted in the person's own file: its files count for nothing. */
function ownRules(folder: string): RuleStore {
  const file = ownConfig();
  return {
    place: file,
    allow: async (rules) => {
      const read = await readSettingsFile(file);
      const before = read.state === "read" ? read.value.permissions?.folders?.[folder] : undefined;
      const allow = [...new Set([...(before ?? []), ...rules])];
      await saveSetting(["permissions", "folders", folder], allow, { file });
    },
  };
}

/**
 * Makes sure that a prompt goes to no other provider than the one that the person meant.
 *
 * @throws PROVIDER_NOT_SUPPORTED for a provider that does not exist; the problem of a settings file that cannot be
 *   read, unless the command line or a variable names the provider.
 */
export function refuseFallback(
  { sources, problems, trusted }: Pick<LoadedSettings, "sources" | "problems" | "trusted">,
  { provider }: { readonly provider?: string | undefined },
  env: NodeJS.ProcessEnv = process.env,
): void {
  const named = (provider ?? env.KEYHOLE_PROVIDER ?? "").trim();
  if (named !== "" && !isProviderSupported(named))
    throw problem("PROVIDER_NOT_SUPPORTED", unknownProvider(named));
  // The file of a folder that nobody has trusted chooses no provider.
  const choosing = sources.filter(({ from }) => from === "user" || (from === "project" && trusted));
  const unread = choosing.find(({ state }) => state === "ignored");
  if (named !== "" || !unread) return;
  throw problems.find(({ details }) => details.file === unread.path) ?? problems[0];
}
