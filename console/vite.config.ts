import { defineConfig } from "vite";

/** One page with its script and style, which load nothing from anywhere else. */
export default defineConfig({
  root: import.meta.dirname,
  base: "/console/",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "built",
    emptyOutDir: true,
    target: "es2024",
    modulePreload: false,
    // A file as a data address would be refused by the policy of the page.
    assetsInlineLimit: 0,
  },
});
