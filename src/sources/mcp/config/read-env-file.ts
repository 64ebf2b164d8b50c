import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { parseEnv } from "node:util";
import { reasonOf } from "../../../util/reason-of.ts";
import { expandVariables } from "./expand-variables.ts";
import { invalid, type ServerConfig } from "./server-config.ts";

const MAX_BYTES = 1024 * 1024;

export interface EnvFileOptions {
  readonly label: string;
  readonly config: ServerConfig;
  readonly variables: Readonly<Record<string, string | undefined>>;
}

/**
 * Reads the variables of a server's `envFile`. A relative path starts at the folder of the process.
 *
 * @throws SERVER_CONFIG_INVALID if the file cannot be read.
 */
export function readEnvFile(
  { label, config, variables }: EnvFileOptions,
  cwd = process.cwd(),
): Record<string, string> {
  if (config.transport !== "stdio" || config.envFile === undefined) return {};
  const path = resolve(cwd, expandVariables(label, config.envFile, variables));
  const facts = statSync(path, { throwIfNoEntry: false });
  if (!facts?.isFile()) throw invalid(label, "its envFile does not exist");
  if (facts.size > MAX_BYTES) throw invalid(label, `its envFile is larger than ${MAX_BYTES} bytes`);
  try {
    return { ...parseEnv(readFileSync(path, "utf8")) } as Record<string, string>;
  } catch (error) {
    throw invalid(label, `its envFile cannot be read: ${reasonOf(error)}`);
  }
}
