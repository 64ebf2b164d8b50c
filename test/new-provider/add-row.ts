// Preloaded: adds the row of a new provider to the table while Node loads it.
import { registerHooks } from "node:module";

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.endsWith("/src/agent/models/providers/providers.ts")) return loaded;
    const table = String(loaded.source).replace("  custom,\n}", "  custom,\n  acme,\n}");
    const file = new URL("acme.ts", import.meta.url).href;
    return { ...loaded, source: `import { acme } from ${JSON.stringify(file)};\n${table}` };
  },
});
