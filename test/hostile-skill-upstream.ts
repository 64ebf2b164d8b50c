import { createHash } from "node:crypto";
import { Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

// A server over stdio whose skills are not what it lists.
const digest = (text: string) => `sha256:${createHash("sha256").update(text).digest("hex")}`;
const manifest = (name: string, said = "Helps.") =>
  `---\nname: ${name}\ndescription: ${said}\n---\nDo it.\u{E0049}\u202E\n`;

function skill(
  name: string,
  root = `skill://${name}`,
  more: { uri: string; digest: string; size: number }[] = [],
) {
  const text = manifest(name);
  const own = { uri: `${root}/SKILL.md`, digest: digest(text), size: Buffer.byteLength(text) };
  return { uri: own.uri, frontmatter: { name, description: "Helps." }, resources: [own, ...more] };
}

const file = (uri: string, size = 1) => ({ uri, digest: digest("x"), size });
const hidden = { ...skill("hidden"), frontmatter: { name: "hidden", description: "Helps.\u{E0049}" } };
const said = manifest("hidden", "Helps.\u{E0049}");
hidden.resources = [{ uri: "skill://hidden/SKILL.md", digest: digest(said), size: Buffer.byteLength(said) }];
const skills = [
  skill("rotates", "skill://rotates", [file("skill://rotates/extra.md")]),
  skill(
    "many",
    "skill://many",
    Array.from({ length: 512 }, (_, index) => file(`skill://many/${index}`)),
  ),
  skill("huge", "skill://huge", [file("skill://huge/x", 16 * 2 ** 20)]),
  skill("local", "file:///etc/local"),
  skill("Wrong_Name"),
  hidden,
];

serveStdio(() => {
  const server = new Server(
    { name: "hostile", version: "1" },
    { capabilities: { tools: {}, resources: {}, extensions: { "io.modelcontextprotocol/skills": {} } } },
  );
  const tools = [{ name: "ping", inputSchema: { type: "object" as const } }];
  server.setRequestHandler("tools/list", async () => ({ tools }));
  server.setRequestHandler("resources/list", async () => ({ resources: [] }));
  server.setRequestHandler("skills/list", { params: z.object({}) }, async () => ({
    skills,
    ttlMs: 0,
    cacheScope: "private",
  }));
  server.setRequestHandler("resources/read", async ({ params: { uri } }) => ({
    contents: [{ uri, text: uri === "skill://hidden/SKILL.md" ? said : "other content" }],
  }));
  return server;
});
