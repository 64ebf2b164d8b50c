import { afterAll } from "vitest";
import { verifies } from "./requirements.ts";
import { checkRandomScripts, closeGateway } from "./run-policy-kit.ts";

afterAll(closeGateway);

verifies("run:policy", "random scripts in the sandbox do what the policy allows, and nothing else", () =>
  checkRandomScripts(200),
);
