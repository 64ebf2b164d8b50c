import { expect, test } from "vitest";
import { call, connectAs, serveTeam } from "./served.ts";

test("a client without a token logs in by itself, with the rights of its person's group", async () => {
  const served = await serveTeam();
  const ada = await connectAs(served, "ada", served.url);
  expect(await call(ada, "get", { routes: ["tickets.list_tickets"] })).toContain("list_tickets by process");
  expect(await call(ada, "exec", { op: "tickets.create_tickets", args: {} })).toContain(
    "create_tickets by process",
  );
  expect(await call(ada, "get", { routes: ["orders.list_orders"] })).toContain("not found");
  const bob = await connectAs(served, "bob", served.url);
  expect(await call(bob, "get", { routes: ["orders.list_orders"] })).toContain("list_orders by process");
  expect(await call(bob, "exec", { op: "orders.create_orders", args: {} })).not.toContain("by process");
  expect(served.issuer.requests).toContain("/reg");
});
