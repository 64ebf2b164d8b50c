import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import { createMcpServer } from "../../faces/mcp/mcp-server.ts";
import type { ServedProfile, ServedProfiles } from "../../faces/mcp/profiles.ts";
import { readProfile } from "../../sources/mcp/config/overrides.ts";
import { type OpenedConfig, openConfig } from "./open-config.ts";
import { chooseSurface, openGateway } from "./open-gateway.ts";
import type { ConfigOptions } from "./read-servers.ts";

type OpenedProfile = Omit<ServedProfile, "allowWrite"> & { close(): Promise<void> };

interface ServingOptions {
  /** The options that the command itself was opened with. Servers are shared by `servers.shared`. */
  readonly given: ConfigOptions;
  readonly allowWrite: boolean;
  /** The gateway of the command, which serves the profile that `--profile` names. */
  readonly own: Omit<ServedProfile, "allowWrite">;
}

/**
 * The profiles of a config, each with a gateway that opens with its first caller. A profile counts as the config has it
 * now: one that was removed is closed, and its callers are refused.
 */
export function openProfiles(config: OpenedConfig, options: ServingOptions) {
  const opened = new Map<string, Promise<OpenedProfile>>();

  async function close(name: string): Promise<void> {
    const profile = opened.get(name);
    opened.delete(name);
    await (await profile?.catch(() => undefined))?.close();
  }

  /** Undefined for a profile that is missing or wrong. */
  function read(name: string) {
    try {
      return readProfile(config.profiles(), name);
    } catch {
      return undefined;
    }
  }

  const profiles: ServedProfiles = {
    // A command with --profile serves nothing else.
    names: () => (config.profileName === undefined ? Object.keys(config.profiles()) : [config.profileName]),
    open: async (name) => {
      const profile = profiles.names().includes(name) ? read(name) : undefined;
      if (!profile) return void (await close(name));
      if (name === config.profileName) return { ...options.own, allowWrite: profile.allowWrite !== false };
      const opening = opened.get(name) ?? open(name, config, options);
      opened.set(name, opening);
      try {
        return { ...(await opening), allowWrite: profile.allowWrite !== false };
      } catch (error) {
        opened.delete(name);
        console.error(toVisibleLine(`The profile ${name} cannot be served: ${reasonOf(error)}`));
        return undefined;
      }
    },
  };
  return { ...profiles, close: async () => void (await Promise.all([...opened.keys()].map(close))) };
}

async function open(
  name: string,
  { named }: OpenedConfig,
  { given, allowWrite }: ServingOptions,
): Promise<OpenedProfile> {
  // The command itself has told what is wrong with servers.
  const opened = await openConfig({ ...given, profile: name, named, asksTrust: false, report: () => {} });
  const { gateway, close } = openGateway({ ...opened, allowWrite, isForMany: true });
  const { instructions } = opened.settings;
  const surface = chooseSurface(undefined, opened.profile);
  const server = createMcpServer(gateway, { surface, ...(instructions && { instructions }) });
  const stopWatching = opened.watch(gateway.sources.set);
  return {
    gateway,
    server,
    close: async () => {
      stopWatching();
      await server.close();
      await close();
    },
  };
}
