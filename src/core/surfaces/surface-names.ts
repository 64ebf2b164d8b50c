/** The sets of tools that a model can be shown. All offer the same operations. */
export const SURFACES = ["lanes", "routes", "commands", "code", "native"] as const;
/** One of the sets of tools that a model can be shown. */
export type Surface = (typeof SURFACES)[number];
