import { type AnyTool, defineTool, problem } from "keyhole";
import { z } from "zod";
import { all, nextId, run } from "../database.ts";
import { checkSlugFree, getPost, type Post, type PostStatus, toSlug } from "../records.ts";
import type { Site } from "../site.ts";

const post = z.string().min(1).max(100).describe("Id or slug of the post");
const title = z.string().trim().min(1).max(120);
const excerpt = z.string().max(300).describe("One or two sentences for the list of posts");
const body = z.string().min(1).max(20_000).describe("The text, as Markdown");
const STATUSES = ["draft", "published", "archived"] as const;
const EXTRACTION = { path: "$root", type: "post", nameField: "title" };

/** The states that a post may enter from each state. */
const BEFORE: Readonly<Record<Exclude<PostStatus, "draft">, readonly PostStatus[]>> = {
  published: ["draft", "archived"],
  archived: ["published"],
};

export function postTools({ database, now }: Site): AnyTool[] {
  function change(reference: string, status: "published" | "archived"): Post {
    const { id, status: before, published_at } = getPost(database, reference);
    if (!BEFORE[status].includes(before)) {
      const reason = `${id} is ${before}; only ${BEFORE[status].join(" or ")} posts can be ${status}.`;
      throw problem("CONFLICT", { reason }, { status: before });
    }
    const publishedAt = status === "published" ? now() : published_at;
    const sql = "UPDATE posts SET status = ?, published_at = ?, updated_at = ? WHERE id = ?";
    run(database, sql, status, publishedAt, now(), id);
    return getPost(database, id);
  }

  function planDeletion(reference: string) {
    const { id, title: named, status } = getPost(database, reference);
    return { id, title: named, status };
  }

  return [
    defineTool({
      name: "cms_createPost",
      description: "Creates a blog post as a draft. Nobody sees it before it is published.",
      category: "posts",
      phrases: ["create post", "write blog post", "new article", "draft a post"],
      relatedTools: ["cms_publishPost", "cms_updatePost"],
      riskLevel: "moderate",
      extraction: EXTRACTION,
      inputSchema: z.object({
        title,
        body,
        excerpt: excerpt.default(""),
        author: z.string().min(1).max(80).default("Studio Fjell"),
      }),
      examples: [
        { args: { title: "Doors that do not stick", body: "Plane them in August.", author: "Omar Aziz" } },
      ],
      execute: (params) => {
        const slug = toSlug(params.title);
        checkSlugFree(database, "posts", slug);
        const [id, at] = [nextId(database, "post"), now()];
        const sql = "INSERT INTO posts VALUES (?, ?, ?, ?, ?, ?, 'draft', ?, ?, NULL)";
        run(database, sql, id, slug, params.title, params.excerpt, params.body, params.author, at, at);
        return getPost(database, id);
      },
    }),

    defineTool({
      name: "cms_updatePost",
      description: "Changes title, excerpt, text or author of a post that is a draft or published.",
      category: "posts",
      phrases: ["update post", "edit blog post", "change article"],
      relatedTools: ["cms_getPost", "cms_publishPost"],
      riskLevel: "moderate",
      extraction: EXTRACTION,
      inputSchema: z.object({
        post,
        title: title.optional(),
        excerpt: excerpt.optional(),
        body: body.optional(),
        author: z.string().min(1).max(80).optional(),
      }),
      examples: [{ args: { post: "slate-or-steel", title: "Slate, steel or turf" } }],
      execute: ({ post: reference, ...changes }) => {
        const old = getPost(database, reference);
        if (old.status === "archived") {
          throw problem("CONFLICT", {
            reason: `${old.id} is archived: publish it again before changing it.`,
          });
        }
        const next = { ...old, ...changes };
        const sql =
          "UPDATE posts SET title = ?, excerpt = ?, body = ?, author = ?, updated_at = ? WHERE id = ?";
        run(database, sql, next.title, next.excerpt, next.body, next.author, now(), old.id);
        return getPost(database, old.id);
      },
    }),

    defineTool({
      name: "cms_publishPost",
      description: "Publishes a draft, or brings an archived post back: everybody sees it at once.",
      category: "posts",
      phrases: ["publish post", "make post live", "put article online"],
      relatedTools: ["cms_getPost", "cms_archivePost"],
      riskLevel: "moderate",
      extraction: EXTRACTION,
      inputSchema: z.object({ post }),
      examples: [{ args: { post: "slate-or-steel" } }],
      policy: {
        do: ["The person asked for it to be public"],
        dont: ["Publishing what was just drafted unasked"],
      },
      execute: (params) => change(params.post, "published"),
    }),

    defineTool({
      name: "cms_archivePost",
      description: "Archives a published post: it leaves the website but is kept.",
      category: "posts",
      phrases: ["archive post", "unpublish post", "take article offline"],
      relatedTools: ["cms_publishPost", "cms_deletePost"],
      riskLevel: "moderate",
      extraction: EXTRACTION,
      inputSchema: z.object({ post }),
      examples: [{ args: { post: "snow-loads" } }],
      execute: (params) => change(params.post, "archived"),
    }),

    defineTool({
      name: "cms_deletePost",
      description: "Deletes a post for good, whatever its state. To keep it, archive it.",
      category: "posts",
      phrases: ["delete post", "remove blog post"],
      relatedTools: ["cms_archivePost", "cms_listPosts"],
      riskLevel: "destructive",
      requiresConfirmation: true,
      extraction: null,
      inputSchema: z.object({ post }),
      examples: [{ args: { post: "open-house-2025" } }],
      dryRun: (params) => ({ would_delete: planDeletion(params.post) }),
      execute: (params) => {
        const plan = planDeletion(params.post);
        run(database, "DELETE FROM posts WHERE id = ?", plan.id);
        return { deleted: plan };
      },
    }),

    defineTool({
      name: "cms_listPosts",
      description: "Lists blog posts, newest first, all of them or those in one state.",
      category: "posts",
      phrases: ["list posts", "show blog posts", "show drafts", "recent articles"],
      relatedTools: ["cms_getPost", "cms_createPost"],
      riskLevel: "safe",
      extraction: { path: "posts", type: "post", nameField: "title", isArray: true },
      inputSchema: z.object({
        status: z.enum(STATUSES).optional(),
        limit: z.int().min(1).max(50).default(20),
      }),
      examples: [{ args: { status: "draft" } }],
      execute: ({ status, limit }) => {
        const sql = `SELECT id, slug, title, excerpt, author, status, created_at, published_at FROM posts
          WHERE status = coalesce(?, status) ORDER BY created_at DESC, id LIMIT ?`;
        return { posts: all(database, sql, status ?? null, limit) };
      },
    }),

    defineTool({
      name: "cms_getPost",
      description: "Gets one blog post with its whole text.",
      category: "posts",
      phrases: ["get post", "read blog post", "show article"],
      relatedTools: ["cms_updatePost", "cms_publishPost"],
      riskLevel: "safe",
      extraction: EXTRACTION,
      inputSchema: z.object({ post }),
      examples: [{ args: { post: "snow-loads" } }],
      execute: (params) => getPost(database, params.post),
    }),
  ];
}
