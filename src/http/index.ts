export type { ShownSetting, StartConsents } from "./console-parts.ts";
export type { ConsoleOptions, ConsoleServer } from "./serve-console.ts";
export { serveConsole } from "./serve-console.ts";
