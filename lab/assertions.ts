import { callAssertions } from "./assertions/calls.ts";
import { lifeAssertions } from "./assertions/life.ts";
import { menuAssertions } from "./assertions/menu.ts";
import { personAssertions } from "./assertions/person.ts";
import type { Assertion } from "./finding.ts";

/** Every assertion of the lab, in the order of its report. */
export const ASSERTIONS: readonly Assertion[] = [
  ...menuAssertions,
  ...callAssertions,
  ...personAssertions,
  ...lifeAssertions,
];
