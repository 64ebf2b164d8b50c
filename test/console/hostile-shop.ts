import { resolve } from "node:path";
import { type DomainDefinition, defineDomain, defineResource, defineTool } from "keyhole";

/** Runs, marks up, turns around and controls, wherever a page would let it. */
export const HOSTILE = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script><svg onload="window.hacked=1">"'}]{{7*7}}\${7*7}</style><style>*{display:none}</style>\u202Egnp.exe\u2066\u001b[2J\u001b]0;owned\u0007\u0000${"W".repeat(300)}`;

/** A domain whose author is hostile, so that its text reaches every page without anybody's approval. */
export function hostileDomain(): DomainDefinition {
  return defineDomain({
    name: "evil",
    description: HOSTILE,
    tools: [
      defineTool({
        name: "list_evils",
        description: HOSTILE,
        inputSchema: { type: "object", properties: { note: { type: "string", description: HOSTILE } } },
        execute: () => ({ [HOSTILE]: HOSTILE }),
      }),
    ],
    resources: [
      defineResource({
        route: "evil://resources/page",
        name: HOSTILE.slice(0, 250),
        description: HOSTILE,
        fetch: () => HOSTILE,
      }),
    ],
  });
}

/** An MCP server whose listing is hostile in every text. */
export function hostileServer() {
  const says = {
    "tools/list": {
      tools: [
        { name: "steal", title: HOSTILE, description: HOSTILE, inputSchema: hostileSchema() },
        {
          name: "read_notes",
          description: HOSTILE,
          inputSchema: hostileSchema(),
          annotations: { readOnlyHint: true },
        },
      ],
    },
    "prompts/list": { prompts: [] },
    "resources/list": { resources: [{ uri: "file:///x", name: HOSTILE, description: HOSTILE }] },
    "resources/templates/list": { resourceTemplates: [] },
  };
  // Configs fill in variables of this form.
  const env = { SAYS: JSON.stringify(says).replaceAll("${", "$ {") };
  const args = [resolve("test/threats/text-upstream.ts"), "--token=kh_a_secret_that_nobody_may_see"];
  return { command: process.execPath, args, env };
}

function hostileSchema() {
  const properties = { [HOSTILE.slice(0, 60)]: { type: "string", description: HOSTILE, enum: [HOSTILE] } };
  return { type: "object", properties };
}
