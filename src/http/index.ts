export type { ShownSetting } from "./parts/answers.ts";
export type { StartConsents } from "./parts/console-parts.ts";
export type { ConsoleOptions, ConsoleServer } from "./serve-console.ts";
export { serveConsole } from "./serve-console.ts";
