// The content of the database after a reset.
import { ATLAS } from "./atlas.ts";
import { HARBOUR } from "./harbour.ts";
import { ORCHARD } from "./orchard.ts";

const PROJECTS = [ATLAS, HARBOUR, ORCHARD];

/** The creation and change time of all this data. */
export const STARTED_AT = "2026-03-02T09:00:00.000Z";
export const ENTITIES = PROJECTS.flatMap(({ entities }) => entities);
export const EDGES = PROJECTS.flatMap(({ edges }) => edges);
