/** First things to try, also in the README. `npm start` prints `$URL` and `$TOKEN`. */
export const THINGS_TO_TRY: readonly { readonly title: string; readonly command: string }[] = [
  {
    title: "1. Ask: finds tools and knowledge in all four systems",
    command: curl("ask", { query: "a customer was charged twice" }),
  },
  {
    title: "2. Get: runs an entry point, which unveils hidden tools",
    command: curl("get", { routes: [{ route: "warehouse://tools/analyst", params: { query: "fraud" } }] }),
  },
  {
    title: "3. Exec: changes something, through the official Inspector",
    command: `npx --yes @modelcontextprotocol/inspector@2.12.0 --cli "$URL" --transport http \\
  --header "Authorization: Bearer $TOKEN" --method tools/call --tool-name exec \\
  --tool-arg op=onto.project.create 'args={"title":"My first project"}'`,
  },
];

function curl(tool: string, args: object): string {
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool, arguments: args } };
  return `curl -s "$URL" -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" \\
  -H "Accept: application/json, text/event-stream" -d '${JSON.stringify(call)}'`;
}
