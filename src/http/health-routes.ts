import type { Gateway } from "../gateway-api.ts";
import type { Route } from "../mcp/router.ts";

/** Answers probes: they tell nothing but yes or no, so they need no token. */
export function healthRoutes(gateway: Gateway): Route[] {
  let isReady = false;
  gateway.ready().then(
    () => {
      isReady = true;
    },
    () => {},
  );
  const probe = (path: string, isFine: () => boolean): Route => ({
    method: "GET",
    path,
    open: true,
    handle: () => new Response(isFine() ? "ok\n" : "not ready\n", { status: isFine() ? 200 : 503 }),
  });
  return [probe("/healthz", () => true), probe("/readyz", () => isReady)];
}
