/** A way to reach the network without the guarded fetch. The linter refuses bare globals; see `biome.json`. */
interface WayOut {
  readonly name: string;
  readonly pattern: RegExp;
  /** A file that also matches this hands the guarded fetch to the library. */
  readonly unless?: RegExp;
}

const NETWORK_MODULES = "(?:undici|ws|(?:node:)?(?:https?|http2|net|tls|dgram|dns)(?:/promises)?)";

const WAYS_OUT: readonly WayOut[] = [
  {
    name: "a network module",
    pattern: new RegExp(`^(?:import|export) (?!type\\b)[^;]*?from "${NETWORK_MODULES}"`, "m"),
  },
  {
    name: "a network module, loaded later",
    pattern: new RegExp(`(?:import|require|getBuiltinModule)\\(\\s*"${NETWORK_MODULES}"`),
  },
  {
    name: "a global by its object",
    pattern:
      /(?<!typeof )\b(?:globalThis|global)(?:\.|\?\.|\[\s*")(?:fetch|WebSocket|EventSource|XMLHttpRequest)\b/,
  },
  { name: "the key fetch of jose", pattern: /\bcreateRemoteJWKSet\(/, unless: /\[customFetch\]:/ },
  {
    name: "the HTTP transport of MCP",
    pattern: /\bnew (?:\w+\.)?(?:StreamableHTTP|SSE|WebSocket)ClientTransport\(/,
    unless: /ClientTransport\([^;]*\bfetch\b/,
  },
];

/** Names the ways out that a source text uses. Comments do not count. */
export function waysOut(source: string): string[] {
  const code = source.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "$1");
  return WAYS_OUT.filter(({ pattern, unless }) => pattern.test(code) && !unless?.test(code)).map(
    ({ name }) => name,
  );
}
