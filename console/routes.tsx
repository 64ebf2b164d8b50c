import type { ComponentType } from "preact";
import { Agents } from "./pages/agents.tsx";
import { Approvals } from "./pages/approvals.tsx";
import { Audit } from "./pages/audit.tsx";
import { Documents } from "./pages/documents.tsx";
import { Overview } from "./pages/overview.tsx";
import { Search } from "./pages/search.tsx";
import { Servers } from "./pages/servers.tsx";
import { Sessions } from "./pages/sessions.tsx";
import { Settings } from "./pages/settings.tsx";
import { Unused } from "./pages/unused.tsx";
import { Usage } from "./pages/usage.tsx";

export interface PageRow {
  readonly path: string;
  readonly title: string;
  /** The key that opens it, after `g`. */
  readonly key: string;
  /** The path of its icon in a box of 20 by 20. */
  readonly icon: string;
  /** Also for people who do not run the gateway: they see their own. */
  readonly forAll?: true;
  /** Gets the words of the address after its path. */
  readonly Page: ComponentType<{ rest: string; part: string }>;
}

/** The pages in the order of the menu. A new page is one row and one file. */
export const PAGES: readonly PageRow[] = [
  { path: "overview", title: "Overview", key: "o", icon: "M3 16V9M8 16V4M13 16v-5M18 16V7", Page: Overview },
  {
    path: "search",
    title: "Search",
    key: "s",
    forAll: true,
    icon: "M9 3a6 6 0 1 0 0 12A6 6 0 0 0 9 3ZM13.5 13.5 18 18",
    Page: Search,
  },
  { path: "approvals", title: "Approvals", key: "a", icon: "M3 10.5 8 15 17 5", Page: Approvals },
  {
    path: "servers",
    title: "Servers",
    key: "v",
    icon: "M3 4h14v5H3ZM3 11h14v5H3ZM6 6.5h.01M6 13.5h.01",
    Page: Servers,
  },
  {
    path: "sessions",
    title: "Sessions",
    key: "e",
    forAll: true,
    icon: "M4 3v14M4 5h9M4 10h12M4 15h6",
    Page: Sessions,
  },
  {
    path: "agents",
    title: "Agents",
    key: "r",
    icon: "M10 3a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7ZM3.500 17c.5-4 3-5.500 6.500-5.500s6 1.500 6.500 5.500",
    Page: Agents,
  },
  {
    path: "unused",
    title: "Unused searches",
    key: "n",
    icon: "M10 2.5a7.5 7.5 0 1 0 0 15 7.5 7.5 0 0 0 0-15ZM7.5 7.8a2.6 2.6 0 1 1 3.4 2.9c-.7.3-.9.7-.9 1.4M10 14.4h.01",
    Page: Unused,
  },
  { path: "usage", title: "Usage", key: "u", icon: "M4 17h12M6 14V8M10 14V4M14 14v-4", Page: Usage },
  { path: "audit", title: "Audit", key: "d", icon: "M5 2.5h7l3 3v12H5ZM8 9h4M8 12.5h4", Page: Audit },
  {
    path: "documents",
    title: "Documents",
    key: "k",
    icon: "M10 5C8 3.5 5.500 3.500 3 4v11c2.500-.5 5-.5 7 1 2-1.500 4.500-1.500 7-1V4c-2.500-.5-5-.5-7 1Zm0 0v11",
    Page: Documents,
  },
  {
    path: "settings",
    title: "Settings",
    key: "t",
    icon: "M3 6h8M15 6h2M3 14h2M9 14h8M13 4v4M7 12v4",
    Page: Settings,
  },
];
