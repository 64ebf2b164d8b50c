import type { Pins } from "../access/pins.ts";
import { loadSettings } from "../config/load-settings.ts";
import { createGateway } from "../gateway.ts";
import type { Source } from "../schema/source.ts";
import { reasonOf } from "../util/reason-of.ts";
import { toAge } from "../util/to-age.ts";
import { loadAnyConfig } from "./load-config.ts";
import { openPins } from "./open-pins.ts";
import { settingsServers } from "./settings-servers.ts";

export interface SurveyOptions {
  readonly config: string | undefined;
  /** The source that is asked for, where it is one. */
  readonly source: string | undefined;
  /** Lists all of them again, also those whose listing is fresh. */
  readonly refresh: boolean;
}

export interface Survey {
  /** With what all of them define. */
  readonly pins: Pins;
  /** Who could not be listed, and why; from outside. */
  readonly unreached: readonly string[];
  close(): Promise<void>;
}

/** Learns what the servers of a config and of the settings define: from what was listed, or from themselves. */
export async function surveyServers({ config, source, refresh }: SurveyOptions): Promise<Survey> {
  const { sources: configured = [], pins = openPins(config) } = await loadAnyConfig(config);
  const { settings, problems } = await loadSettings();
  const others = settingsServers(settings, false).filter(
    ({ id }) => !configured.some((one) => one.id === id),
  );
  const all = [...configured, ...others];
  const chosen = all.filter((one) => labelOf(one) === source);
  const sources = chosen.length > 0 ? chosen : all;
  const gateway = createGateway({ domains: [], sources, pins, learning: false });
  const unreached = (await gateway.sources.status())
    .filter(({ isFresh }) => refresh || !isFresh)
    .map(async ({ id, newest }): Promise<string[]> => {
      try {
        await gateway.sources.refresh(id);
        return [];
      } catch (error) {
        const kept = newest === undefined ? "" : ` Shown as it was listed ${toAge(Date.now() - newest)} ago.`;
        return [`${id} could not be listed: ${reasonOf(error)}${kept}`];
      }
    });
  return {
    pins,
    unreached: [...problems.map(({ message }) => message), ...(await Promise.all(unreached)).flat()],
    close: () => gateway.close(),
  };
}

function labelOf({ id }: Source): string {
  return id.slice(id.indexOf(":") + 1);
}
