import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { ProviderConfig, ProviderName } from "../schema/models-config.ts";
import { type Clock, systemClock } from "../util/clock.ts";
import { errorResponse, type ModelErrorResponse, type ModelResponse } from "./model-response.ts";
import { type RunCommand, runCommand } from "./run-command.ts";

/** What a provider reads of the world around it. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly run: RunCommand;
  readonly clock: Clock;
  /** Loads the SDK of Foundry Local. */
  readonly importFoundryLocal: () => Promise<unknown>;
}

/** A model of a provider, ready to be called. */
export interface ReadyModel {
  readonly model: LanguageModelV4;
  /** What must not stand in any message. */
  readonly secrets: () => readonly string[];
  /** For calls that do not say. */
  readonly temperature?: number;
}

/** Makes the model that a config names. May throw; whoever calls it answers with a response all the same. */
export type ProviderFactory<Name extends ProviderName> = (
  config: ProviderConfig<Name>,
  surroundings: Surroundings,
) => Promise<ModelResponse<ReadyModel>>;

export function surroundingsWith(given: Partial<Surroundings> = {}): Surroundings {
  // A name that is no literal: the package is not among those that Keyhole is built with.
  const foundryLocal: string = FOUNDRY_LOCAL;
  return {
    env: process.env,
    run: runCommand,
    clock: systemClock,
    importFoundryLocal: () => import(foundryLocal),
    ...given,
  };
}

export const FOUNDRY_LOCAL = "foundry-local-sdk";

export function notConfigured(provider: ProviderName, sentence: string): ModelErrorResponse {
  return errorResponse("PROVIDER_NOT_CONFIGURED", `The provider ${provider} is not configured: ${sentence}`);
}

/** The first that is set; an empty text is not. */
export function firstFilled(...values: readonly (string | undefined)[]): string | undefined {
  return values.map((value) => value?.trim()).find((value) => value !== undefined && value !== "");
}

export function withoutEndSlash(url: string): string {
  return url.endsWith("/") ? withoutEndSlash(url.slice(0, -1)) : url;
}
