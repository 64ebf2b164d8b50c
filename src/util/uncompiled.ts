/** Lets zod check a value without compiling the schema first, which takes longer than the few checks of a start. */
export const UNCOMPILED = { jitless: true } as const;
