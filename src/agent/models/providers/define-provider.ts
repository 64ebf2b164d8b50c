import { execFile } from "node:child_process";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { z } from "zod";
import { problem } from "../../../base/problems/problem.ts";
import { type Clock, systemClock } from "../../../base/util/clock.ts";
import { isMissing } from "../../../base/util/import-module.ts";
import { type ModelProblem, modelProblem } from "./model-errors.ts";

/** Everything Keyhole knows about a provider. A new one is a file like this and a row of {@link PROVIDERS}. */
export interface Provider<Schema extends z.ZodObject = z.ZodObject> {
  readonly config: Schema;
  /** Variables that fill a field, the preferred one first. */
  readonly env: { readonly [Field in keyof z.output<Schema>]?: readonly string[] };
  /** The field that names the model, which may depend on the provider's mode. */
  modelField(config: z.output<Schema>): keyof z.output<Schema> & string;
  /** The model when the config names none. Without it, the config must name one. */
  defaultModel?(config: z.output<Schema>): string | undefined;
  /** The address of the server; undefined where it is known only once the server runs. */
  serverUrl(config: z.output<Schema>): string | undefined;
  /** The provider's own list of models; nothing if the config has no key for it. */
  listing?(config: z.output<Schema>): ModelListing | "" | undefined;
  /** `gen_ai.provider.name` by OpenTelemetry's conventions. */
  readonly telemetryName: string;
  /** The AI SDK package that users install. */
  readonly package: string;
  /** Makes the model. The config has no empty texts, and variables have filled its gaps. May throw. */
  create(config: z.output<Schema>, context: ProviderContext): Promise<ReadyModel>;
}

/** How to ask a server for the models that it has. */
export interface ModelListing {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The address that the owner configured, which may be private. */
  readonly ownUrl?: string | undefined;
  /** Reads the names in the server's answer; by default the ids in its `data`. */
  namesIn?(body: unknown): string[];
}

export interface ProviderContext extends ProviderHost {
  /** The provider's name in the config. */
  readonly name: string;
  readonly model: string;
  /** Loads the provider's package; if it is missing, the problem says how to install it. */
  load<T>(importPackage: () => Promise<T>): Promise<T>;
}

export interface ReadyModel {
  readonly model: LanguageModelV4;
  /** Texts that must not appear in any message. */
  readonly secrets: () => readonly string[];
  /** For calls without a temperature of their own. */
  readonly temperature?: number;
  /** For calls without a limit of their own. */
  readonly maxTokens?: number;
}

export function defineProvider<Schema extends z.ZodObject>(provider: Provider<Schema>): Provider<Schema> {
  return provider;
}

/** Checks a provider's part of a config, after it drops empty texts and fills gaps from variables. */
export function readProviderConfig(provider: Provider, part: unknown, env: ProviderHost["env"]) {
  if (part !== undefined && (typeof part !== "object" || part === null))
    return provider.config.safeParse(part);
  const fields = new Map<string, unknown>();
  for (const [field, written] of Object.entries(part ?? {})) {
    const value = typeof written === "string" ? written.trim() : written;
    if (value !== "") fields.set(field, value);
  }
  for (const [field, variables] of Object.entries<readonly string[] | undefined>(provider.env)) {
    const value = variables?.map((name) => env[name]?.trim()).find(Boolean);
    if (value && fields.get(field) === undefined) fields.set(field, value);
  }
  return provider.config.safeParse(Object.fromEntries(fields));
}

/** The model that a checked config names, or the provider's default. */
export function modelOf(provider: Provider, config: Readonly<Record<string, unknown>>): string | undefined {
  const named = config[provider.modelField(config)];
  return typeof named === "string" ? named : provider.defaultModel?.(config);
}

export function notConfigured(name: string, reason: string): ModelProblem {
  return modelProblem(
    "PROVIDER_NOT_CONFIGURED",
    problem("PROVIDER_NOT_CONFIGURED", { name, reason }).message,
  );
}

/** A field of text; an empty one counts as not set. */
export const text = z.string().max(4096).optional();

/** A field that becomes part of a URL's path. */
export const pathPart = z
  .string()
  .max(256)
  .regex(/^[\w.-]*$/, "may have letters, digits, dots, dashes and underscores only")
  .optional();

export const url = z
  .union([z.literal(""), z.url({ protocol: /^https?$/, error: "must be an http or https address" })])
  .refine((value) => !/^[^/]*\/\/[^/]*@/.test(value), "must not carry a user name or password")
  .optional();

/** Runs a program without a shell and returns its output; undefined if it is missing or fails. */
export type RunCommand = (program: string, args: readonly string[]) => Promise<string | undefined>;

/** The machine around a provider: its variables, programs and clock. Tests replace parts of it. */
export interface ProviderHost {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly run: RunCommand;
  readonly clock: Clock;
  /** A request fails with TIMEOUT if the server sends nothing for so long. */
  readonly idleMs: number;
  readonly importFoundryLocal: () => Promise<unknown>;
}

export const FOUNDRY_LOCAL = "foundry-local-sdk";

const TIME_LIMIT_MS = 30_000;
/** Reasoning models may think for minutes before they send anything. */
export const DEFAULT_IDLE_MS = 300_000;
const MAX_OUTPUT_BYTES = 1_000_000;

export const runCommand: RunCommand = (program, args) =>
  new Promise((resolve) => {
    const options = { timeout: TIME_LIMIT_MS, maxBuffer: MAX_OUTPUT_BYTES, windowsHide: true, shell: false };
    execFile(program, args, options, (error, stdout) => resolve(error ? undefined : stdout));
  });

export function createHost(replaced: Partial<ProviderHost> = {}): ProviderHost {
  // Not a literal, so that bundlers do not look for a package that Keyhole is built without.
  const foundryLocal: string = FOUNDRY_LOCAL;
  return {
    env: process.env,
    run: runCommand,
    clock: systemClock,
    idleMs: DEFAULT_IDLE_MS,
    importFoundryLocal: () => import(foundryLocal),
    ...replaced,
  };
}

/**
 * Loads an optional package.
 *
 * @throws PACKAGE_MISSING with how to install it.
 */
export async function loadPackage<T>(name: string, feature: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if (isMissing(error, name)) throw problem("PACKAGE_MISSING", { name, feature });
    throw error;
  }
}
