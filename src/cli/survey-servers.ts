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
  /** Limits the survey to this source, if it exists. */
  readonly source: string | undefined;
  /** Lists servers again even if their listing is fresh. */
  readonly refresh: boolean;
}

export interface Survey {
  /** Knows the definitions of all surveyed servers. */
  readonly pins: Pins;
  /** Why servers could not be listed. The texts come from outside. */
  readonly unreached: readonly string[];
  close(): Promise<void>;
}

/** Reads the definitions of the servers in a config and the settings, from fresh listings or from the servers. */
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
        const kept = newest === undefined ? "" : ` The list is ${toAge(Date.now() - newest)} old.`;
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
