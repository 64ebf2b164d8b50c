import { problem } from "../schema/problem.ts";
import { SURFACES, type Surface } from "../surfaces/surface-names.ts";

/**
 * The surface of a server: the named one, or that of the profile.
 *
 * @throws INVALID_INPUT if it does not exist.
 */
export function chooseSurface(given: string | undefined, profile: { readonly surface?: string | undefined }) {
  const name = (given ?? profile.surface ?? "lanes") as Surface;
  if (SURFACES.includes(name)) return name;
  const reason = `${given === undefined ? "the surface of the profile" : "--surface"} must be one of ${SURFACES.join(", ")}`;
  throw problem("INVALID_INPUT", { operation: "serve", reason });
}
