/** First things to try, also in the README. They reach the gateway of `npm start` by the variables that it prints. */
export const THINGS_TO_TRY: readonly { readonly title: string; readonly command: string }[] = [
  {
    title: "1. Ask: finds tools and knowledge in all four systems, here for two needs at once",
    command: 'npm run -s keyhole ask "new blog post, then mark the task as done"',
  },
  {
    title: "2. Call: runs an entry point, which unveils hidden tools",
    command: "npm run -s keyhole call warehouse://tools/analyst query=fraud",
  },
  {
    title: "3. Call again: changes something; with KEYHOLE_TOKEN=$GUEST before it, it is refused",
    command: 'npm run -s keyhole call onto.project.create title="My first project"',
  },
  {
    title: "4. The same by any other MCP client, such as the official Inspector",
    command: `npx --yes @modelcontextprotocol/inspector@2.12.0 --cli "$KEYHOLE_URL" --transport http \\
  --header "Authorization: Bearer $KEYHOLE_TOKEN" --method tools/call --tool-name exec \\
  --tool-arg op=onto.project.create 'args={"title":"My second project"}'`,
  },
];
