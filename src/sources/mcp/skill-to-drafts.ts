import type { SkillFile } from "@modelcontextprotocol/client/ext/skills";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import { BARE_ENTRY } from "../../core/nouns/bare-entry.ts";
import type { CallContext, EntryDraft, Origin, SkillManifestFile } from "../../core/nouns/entry.ts";
import { type ListedSkill, toDefinition } from "./definition.ts";
import { checkOffered, type DraftOptions } from "./entry-request.ts";

const SEGMENT = /^[A-Za-z0-9._~%!$&'()*+,;=:@-]+$/;
/** Leaves room for the domain in a route. */
const MAX_PATH = 350;
const MANIFEST = "/SKILL.md";

/**
 * Drafts a skill of the server, with its files as hidden entries below it. Approval of the skill covers its files. A
 * skill that is also a resource keeps its URI.
 */
export function skillToDrafts(
  skill: ListedSkill,
  isResource: boolean,
  ops: Set<string>,
  options: DraftOptions,
): EntryDraft[] {
  const { label, program, trusted, approvedBy, status } = options;
  const root = skill.uri.slice(0, -MANIFEST.length);
  const path = toPath(root.replace(/^[a-z][a-z0-9+.-]*:\/\/+/i, ""), ops);
  if (path === undefined) return [];
  const route = `${label}://skills/${path}`;
  const { content, hash } = toDefinition(skill);
  const origin: Origin = { source: label, program, definition: content, hash, trusted, approvedBy };
  const common = { ...BARE_ENTRY, kind: "skill" as const, domain: label, ...(status && { status }) };
  const listed = skill.resources === "dynamic" ? [] : skill.resources;
  const files = listed.flatMap(({ uri, size, digest }): (SkillManifestFile & { uri: string })[] => {
    const below = uri.slice(root.length + 1);
    const fits = toPath(`${path}/${below}`, ops) === `${path}/${below}`;
    return fits ? [{ path: below, size, digest, uri }] : [];
  });
  const whole = files.length === listed.length;
  const read = (uri: string, context: CallContext) => readFile(skill, uri, route, options, context);

  return [
    {
      ...common,
      route,
      name: skill.name,
      description: skill.description,
      origin,
      metadata: {
        resource_type: "skill",
        mimeType: "text/markdown",
        ...(isResource && { uri: skill.uri }),
      },
      ...(whole && {
        manifest: {
          frontmatter: skill.frontmatter,
          files:
            skill.resources === "dynamic"
              ? "dynamic"
              : files.map(({ path, size, digest }) => ({ path, size, digest })),
        },
      }),
      load: async (_params, context) => {
        const file = await read(skill.uri, context);
        passOn(file, route, context);
        const others = files.filter(({ uri }) => uri !== skill.uri).map((one) => `- ${route}/${one.path}`);
        const body = toVisibleText(file.body ?? file.text ?? "");
        return others.length === 0
          ? body
          : `${body.trimEnd()}\n\nFiles of this skill, to be read with get:\n${others.join("\n")}`;
      },
    },
    ...files.map(
      ({ path: below, size, uri }): EntryDraft => ({
        ...common,
        route: `${route}/${below}`,
        name: below,
        description: `A file of the skill ${skill.name}, ${size} bytes.`,
        visibility: "hidden",
        origin: { ...origin, partOf: route },
        load: async (_params, context) => {
          const file = await read(uri, context);
          passOn(file, `${route}/${below}`, context);
          if (file.text !== undefined) return toVisibleText(file.text);
          return { bytes: file.bytes.length, data: Buffer.from(file.bytes).toString("base64") };
        },
      }),
    ),
  ];
}

/** Reads a file and checks it against the listed digest. */
async function readFile(
  skill: ListedSkill,
  uri: string,
  route: string,
  { upstream, trusted }: DraftOptions,
  { signal, ...person }: CallContext,
): Promise<SkillFile> {
  return upstream.run(
    {
      repeatable: true,
      person,
      check: checkOffered(skill, (listing) => listing.skills, route, { trusted }),
      work: async (client, request) => {
        const { SkillsClient } = await import("@modelcontextprotocol/client/ext/skills");
        const { frontmatter, resources } = skill;
        return new SkillsClient(client).read({ uri: skill.uri, frontmatter, resources }, uri, request);
      },
    },
    signal,
  );
}

/** Passes the file on unchanged, because clients check its digest. */
function passOn({ text, bytes, mimeType }: SkillFile, uri: string, { client }: CallContext): void {
  const content = text === undefined ? { blob: Buffer.from(bytes).toString("base64") } : { text };
  client?.passOn?.({ contents: [{ uri, ...(mimeType !== undefined && { mimeType }), ...content }] });
}

/** A unique path, or undefined if the address does not fit into a route. */
function toPath(address: string, ops: Set<string>): string | undefined {
  const segments = address.split("/");
  if (address.length > MAX_PATH) return undefined;
  if (segments.some((segment) => !SEGMENT.test(segment) || segment === "." || segment === ".."))
    return undefined;
  let path = address;
  for (let count = 2; ops.has(`skills.${path.replaceAll("/", ".")}`); count += 1)
    path = `${address}-${count}`;
  ops.add(`skills.${path.replaceAll("/", ".")}`);
  return path;
}
