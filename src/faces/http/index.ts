export type { ShownSetting } from "./endpoints/api-types.ts";
export type { StartConsents } from "./endpoints/console-parts.ts";
export type { ConsoleOptions, ConsoleServer } from "./serve-console.ts";
export { serveConsole } from "./serve-console.ts";
