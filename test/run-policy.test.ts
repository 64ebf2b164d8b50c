import { verifies } from "./claims.ts";
import { checkRandomScripts } from "./run-policy-kit.ts";

verifies("run:policy", "random scripts in the sandbox do what the policy allows, and nothing else", () =>
  checkRandomScripts(200),
);
