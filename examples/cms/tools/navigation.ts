import type { DatabaseSync } from "node:sqlite";
import { type AnyTool, defineTool, problem } from "keyhole";
import { z } from "zod";
import { inTransaction, nextId, run } from "../database.ts";
import { getNavigationItem, navigationOf } from "../records.ts";
import type { Site } from "../site.ts";

const item = z.string().min(1).max(100).describe("Id of the item, as the menu lists it");
const label = z.string().trim().min(1).max(40).describe("What the menu shows");
const url = z
  .string()
  .max(200)
  .regex(/^(?:\/|https:\/\/)\S*$/)
  .describe("A path such as /team, or an https address");
const position = z.int().min(0).max(100).describe("Place in the menu, from 0");
const EXTRACTION = { path: "item", type: "navigation_item", nameField: "label" };

export function navigationTools({ database }: Site): AnyTool[] {
  function planRemoval(id: string) {
    const { label: named, url: leads } = getNavigationItem(database, id);
    return { id, label: named, url: leads };
  }

  function checkLabelFree(wanted: string, own?: string): void {
    const taken = navigationOf(database).find((known) => known.label === wanted && known.id !== own);
    if (taken) throw problem("CONFLICT", { reason: `The menu has ${wanted} already: ${taken.id}.` });
  }

  return [
    defineTool({
      name: "cms_getNavigation",
      description: "Gets the navigation menu of the website: its items in order, hidden ones too.",
      category: "navigation",
      phrases: ["get navigation", "show menu", "list menu items", "what is in the navigation"],
      relatedTools: ["cms_addNavigationItem", "cms_updateNavigationItem"],
      riskLevel: "safe",
      extraction: { path: "items", type: "navigation_item", nameField: "label", isArray: true },
      inputSchema: z.object({}),
      examples: [{ args: {} }],
      execute: () => ({ items: navigationOf(database) }),
    }),

    defineTool({
      name: "cms_addNavigationItem",
      description: "Adds an item to the navigation menu, at the end or at a position.",
      category: "navigation",
      phrases: ["add navigation item", "add to menu", "new menu entry", "link page in menu"],
      relatedTools: ["cms_getNavigation", "cms_createPage"],
      riskLevel: "moderate",
      extraction: EXTRACTION,
      inputSchema: z.object({ label, url, position: position.optional() }),
      examples: [{ args: { label: "Press", url: "/press", position: 4 } }],
      execute: (params) => {
        checkLabelFree(params.label);
        return inTransaction(database, () => {
          const id = nextId(database, "nav");
          const last = navigationOf(database).length;
          run(database, "INSERT INTO navigation VALUES (?, ?, ?, ?, 1)", id, params.label, params.url, last);
          moveTo(database, id, params.position ?? last);
          return { item: getNavigationItem(database, id) };
        });
      },
    }),

    defineTool({
      name: "cms_updateNavigationItem",
      description: "Changes the label, the address or the place of an item of the navigation menu.",
      category: "navigation",
      phrases: ["update navigation item", "rename menu item", "reorder menu", "move menu item"],
      relatedTools: ["cms_getNavigation", "cms_toggleNavigationItem"],
      riskLevel: "moderate",
      extraction: EXTRACTION,
      inputSchema: z.object({
        item,
        label: label.optional(),
        url: url.optional(),
        position: position.optional(),
      }),
      examples: [{ args: { item: "nav_journal", label: "Notes", position: 0 } }],
      execute: (params) => {
        const old = getNavigationItem(database, params.item);
        if (params.label !== undefined) checkLabelFree(params.label, old.id);
        return inTransaction(database, () => {
          const sql = "UPDATE navigation SET label = ?, url = ? WHERE id = ?";
          run(database, sql, params.label ?? old.label, params.url ?? old.url, old.id);
          moveTo(database, old.id, params.position ?? old.position);
          return { item: getNavigationItem(database, old.id) };
        });
      },
    }),

    defineTool({
      name: "cms_removeNavigationItem",
      description: "Removes an item from the navigation menu. The page it leads to stays.",
      category: "navigation",
      phrases: ["remove navigation item", "remove from menu", "delete menu item"],
      relatedTools: ["cms_getNavigation", "cms_toggleNavigationItem"],
      riskLevel: "destructive",
      requiresConfirmation: true,
      extraction: null,
      inputSchema: z.object({ item }),
      examples: [{ args: { item: "nav_careers" } }],
      dryRun: (params) => ({ would_remove: planRemoval(params.item) }),
      execute: (params) => {
        const plan = planRemoval(params.item);
        return inTransaction(database, () => {
          run(database, "DELETE FROM navigation WHERE id = ?", plan.id);
          renumber(
            database,
            navigationOf(database).map(({ id }) => id),
          );
          return { removed: plan };
        });
      },
    }),

    defineTool({
      name: "cms_toggleNavigationItem",
      description: "Shows or hides an item of the navigation menu without removing it.",
      category: "navigation",
      phrases: ["toggle navigation item", "hide menu item", "show menu item again"],
      relatedTools: ["cms_getNavigation", "cms_removeNavigationItem"],
      riskLevel: "moderate",
      extraction: EXTRACTION,
      inputSchema: z.object({
        item,
        visible: z.boolean().optional().describe("The opposite of now if left out"),
      }),
      examples: [{ args: { item: "nav_careers", visible: true } }],
      execute: (params) => {
        const { id, visible } = getNavigationItem(database, params.item);
        const next = params.visible ?? !visible;
        run(database, "UPDATE navigation SET visible = ? WHERE id = ?", Number(next), id);
        return { item: getNavigationItem(database, id) };
      },
    }),
  ];
}

function moveTo(database: DatabaseSync, id: string, place: number): void {
  const others = navigationOf(database)
    .map((known) => known.id)
    .filter((known) => known !== id);
  renumber(database, others.toSpliced(place, 0, id));
}

function renumber(database: DatabaseSync, ids: readonly string[]): void {
  for (const [place, id] of ids.entries()) {
    run(database, "UPDATE navigation SET position = ? WHERE id = ?", place, id);
  }
}
