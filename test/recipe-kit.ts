import { join } from "node:path";
import type { ApprovalRequest, GatewayOptions } from "keyhole";
import { onTestFinished } from "vitest";
import { createShopGateway } from "./run-kit.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** A person who says yes to every recipe, and to nothing else. */
export const keepsRecipes = ({ op }: ApprovalRequest) => op.startsWith("keep recipes.");

/** A shop with a folder for recipes, which closes with its test. */
export function openOwn(options: Partial<GatewayOptions>) {
  const recipes = join(temporaryFolder(), "recipes");
  const opened = createShopGateway({ recipes, approve: keepsRecipes, ...options });
  onTestFinished(() => opened.gateway.close());
  return { ...opened, recipes };
}

export const TOTAL = `
  const { items } = await tools.shop.order.list();
  return items.filter(({ total }) => total >= params.least).length;`;
export const COUNT = {
  name: "count-orders",
  description: "Counts the orders of at least a total.",
  params: { least: { type: "number", description: "The least total" } },
};
