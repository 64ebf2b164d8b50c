export type { Disclosure, DisclosureOptions } from "./disclosure.ts";
export { createDisclosure } from "./disclosure.ts";
export type { TrimOptions } from "./messages.ts";
export type { RankTools } from "./rank-tools.ts";
export { createToolRanking } from "./rank-tools.ts";
