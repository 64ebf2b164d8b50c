/** Configs that commands load from a trusted folder they stand in, the first that exists. */
export const DEFAULT_CONFIGS = ["keyhole.config.ts", "keyhole.config.js", "keyhole.config.mjs"];
