import { resolve } from "node:path";
import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import type { Principal } from "../../core/nouns/principal.ts";
import { SURFACES, type Surface } from "../../core/surfaces/surface-names.ts";
import { createGateway } from "../../gateway/create-gateway.ts";
import { faceApiOf } from "../../gateway/face-api.ts";
import type { Gateway, GatewayOptions } from "../../gateway/gateway-api.ts";
import type { SourceStatus } from "../../gateway/start/followed-source.ts";
import type { SearchIndex } from "../../search/port/search-index.ts";
import type { Profile } from "../../sources/mcp/config/overrides.ts";
import { checkNames, invalid } from "../terminal/define-command.ts";
import { withProgress } from "../terminal/with-progress.ts";
import { openFilledConfig } from "./open-config.ts";
import { openTypesense, type ProgramState } from "./open-state.ts";
import type { Settings } from "./settings-schema.ts";
import {
  closeAudit,
  openAudit,
  openIndex,
  openLearning,
  openUsage,
  openWaitingCalls,
  resultsFolder,
} from "./stores.ts";
import { cacheFolder } from "./user-folders.ts";

interface GatewayRequest {
  /** The domains, sources and other options of the config. Its options win over those that the program sets. */
  readonly options: Partial<GatewayOptions>;
  /**
   * The settings in effect. Without them the gateway only looks at definitions: it learns nothing, keeps no index and
   * offers no recipes.
   */
  readonly settings?: Pick<Settings, "audit" | "learning" | "askAfterInjection" | "index" | "limits">;
  /** The state that the config names. Default: the state folder. */
  readonly state?: ProgramState | undefined;
  /** The config and profile, which the kept search index belongs to. */
  readonly config?: string | undefined;
  readonly profileName?: string | undefined;
  /** The folder of the config's recipes. */
  readonly recipes?: string;
  /** Keeps another index: an agent has more entries than the config. */
  readonly isAgent?: boolean;
  readonly profile?: Profile;
  /** Lets the caller write, beside the principal of the config and the profile. */
  readonly allowWrite?: boolean;
  /** Whether several people use the gateway: a recipe that one of them keeps is no tool of the others. */
  readonly isForMany?: boolean;
}

/** Makes a gateway: the one place that decides what a gateway of the program keeps and what its caller may do. */
export function openGateway(request: GatewayRequest) {
  const { options, settings, state, recipes, isForMany = false } = request;
  const audit = settings && openAudit(settings.audit, state);
  const gateway = createGateway({
    domains: [],
    ...(settings
      ? {
          cacheDirectory: cacheFolder(),
          index: indexOf(request),
          learning: openLearning(settings.learning, state),
          ...state?.stores,
          askAfterInjection: settings.askAfterInjection,
          ...(!isForMany && { resultFiles: resultsFolder() }),
          ...(recipes !== undefined && !isForMany && { recipes }),
        }
      : { learning: false }),
    ...(audit && { audit }),
    ...options,
    principal: principalOf(request),
  });
  if (settings) faceApiOf(gateway).keepQuestions(openWaitingCalls(state));
  const usage = settings && (isForMany || settings.limits) ? openUsage(settings.limits, state) : undefined;
  if (usage) faceApiOf(gateway).meter(usage);
  return {
    gateway,
    /** Closes the gateway and writes the rest of the audit log. */
    close: async () => {
      await gateway.close();
      await usage?.close();
      await closeAudit(audit);
    },
  };
}

/** The search index that the settings name. An agent's own entries are no matter of other gateways. */
function indexOf({ settings, state, config, profileName, isAgent = false }: GatewayRequest): SearchIndex {
  const { index } = settings ?? {};
  if (typeof index === "object" && !isAgent) return openTypesense(index.typesense, profileName);
  if (state && index === undefined && !isAgent) return state.openIndex(profileName);
  return openIndex([resolve(config ?? ""), profileName ?? "", ...(isAgent ? ["agent"] : [])]);
}

/**
 * The caller of a gateway: that of the config, with the rights of the command line and of the profile. A profile that
 * says no to writing says it to everybody.
 */
export function principalOf({
  options: { principal } = {},
  allowWrite = false,
  profile = {},
}: Partial<GatewayRequest>): Principal {
  const mayWrite = allowWrite || principal?.allowWrite === true || profile.allowWrite === true;
  return {
    id: "local",
    scopes: [],
    ...principal,
    allowWrite: mayWrite && profile.allowWrite !== false,
  };
}

/**
 * The surface of a server: the named one, or that of the profile.
 *
 * @throws INVALID_INPUT if the profile names one that does not exist.
 */
export function chooseSurface(named: Surface | undefined, profile: Profile): Surface {
  const name = named ?? profile.surface ?? "lanes";
  const surface = SURFACES.find((one) => one === name);
  if (surface) return surface;
  throw invalid("serve", `the surface of the profile must be one of ${SURFACES.join(", ")}`);
}

/**
 * Lists sources again, all at once, with progress in a terminal. Returns why some could not be listed, by id.
 *
 * @param wanted Chooses the sources by the age of their content. Default: those that are not fresh.
 * @param signal Ends the wait for sources that are not listed by then: they fail with CANCELLED.
 */
export async function listSources(
  gateway: Gateway,
  wanted: (status: SourceStatus) => boolean = ({ isFresh }) => !isFresh,
  signal?: AbortSignal,
): Promise<Map<string, unknown>> {
  const failures = new Map<string, unknown>();
  const open = new Set((await gateway.sources.status()).filter(wanted).map(({ id }) => id));
  const refresh = async (id: string) => {
    await gateway.sources
      .refresh(id, { ...(signal && { signal }) })
      .catch((error: unknown) => failures.set(id, error));
    open.delete(id);
  };
  await withProgress(
    () => toVisibleLine(`Listing ${[...open].map(serverName).join(", ")}`),
    () => Promise.all([...open].map(refresh)),
  );
  return failures;
}

/** The name that people know a source by: its id without the kind. */
export function serverName(id: string): string {
  return id.slice(id.indexOf(":") + 1);
}

interface CatalogInput {
  /** The domains to look at. Default: all. */
  readonly words: readonly string[];
  readonly config: string | undefined;
}

/**
 * Opens the catalog of a config to look at it: definitions are read as their servers give them, also unapproved ones,
 * and nothing of it is called.
 *
 * @throws INVALID_INPUT for a domain that does not exist.
 */
export async function openCatalog(command: string, { config, words }: CatalogInput) {
  const { options } = await openFilledConfig({ config, readsOnly: true });
  const { pins: _, ...withoutPins } = options;
  const { gateway, close } = openGateway({ options: withoutPins });
  for (const error of (await listSources(gateway)).values()) console.error(toVisibleLine(reasonOf(error)));
  const { entries } = await gateway.view();
  const domains = [...new Set(entries.map(({ domain }) => domain))];
  try {
    checkNames(command, "server", words, domains);
  } catch (error) {
    await close();
    throw error;
  }
  const chosen = entries.filter(({ domain }) => words.length === 0 || words.includes(domain));
  return { gateway, entries: chosen, close };
}
