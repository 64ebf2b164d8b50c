/** The sets of tools that can be shown to a model. All offer the same operations. */
export const SURFACES = ["lanes", "routes", "commands", "code", "native"] as const;
/** The name of a set of tools. */
export type Surface = (typeof SURFACES)[number];
