// A product: a mapping API that is about to be launched.
import { toProject } from "./project-data.ts";

export const ATLAS = toProject(
  [
    "atlas",
    "Atlas",
    "active",
    { description: "A public API for maps and routes, launched this spring.", due_at: "2026-06-30" },
  ],
  {
    goal: [
      ["launch", "Launch the public API", "active", { due_at: "2026-05-18" }],
      ["adoption", "One hundred teams use the API", "active", { type_key: "metric", due_at: "2026-06-30" }],
      ["latency", "Answer within 80 ms for 99 of 100 requests", "draft", { type_key: "metric" }],
    ],
    plan: [
      ["beta", "Closed beta", "active", { due_at: "2026-04-10" }],
      ["release", "Release", "draft", { due_at: "2026-05-18" }],
      ["press", "Launch campaign", "draft", { type_key: "campaign", due_at: "2026-05-25" }],
    ],
    task: [
      [
        "rate_limits",
        "Write rate limits into the API Spec",
        "in_progress",
        { priority: 1, due_at: "2026-03-13" },
      ],
      [
        "review_spec",
        "Review the API Spec",
        "todo",
        { type_key: "review", priority: 2, due_at: "2026-03-20" },
      ],
      [
        "load_test",
        "Run a load test at 2,000 requests a second",
        "blocked",
        { priority: 2, due_at: "2026-03-27" },
      ],
      ["cache", "Put a cache before the tile store", "todo", { priority: 3 }],
      ["invite", "Invite twenty teams to the beta", "done", { type_key: "coordinate", priority: 2 }],
      ["pricing", "Compare prices of other map APIs", "todo", { type_key: "research", priority: 4 }],
      [
        "press_kit",
        "Send the press kit",
        "todo",
        { type_key: "coordinate", priority: 3, due_at: "2026-05-11" },
      ],
    ],
    document: [
      ["engineering", "Engineering", "published", { type_key: "folder" }],
      ["adr", "Decision records", "published", { type_key: "folder", parent: "engineering" }],
      [
        "adr_1",
        "Why SQLite",
        "published",
        {
          type_key: "decision",
          parent: "adr",
          content: "One file, no server, and reads that are faster than the network.",
        },
      ],
      [
        "adr_2",
        "Why tiles are cached by zoom level",
        "in_review",
        {
          type_key: "decision",
          parent: "adr",
          content: "Most requests are for zoom levels 10 to 14; the others are drawn on demand.",
        },
      ],
      ["marketing", "Marketing", "published", { type_key: "folder" }],
      [
        "api_spec",
        "API Spec",
        "in_review",
        {
          type_key: "spec",
          parent: "marketing",
          content:
            "# API\nGET /tiles/{z}/{x}/{y} answers a tile. GET /routes answers a route between two points.",
        },
      ],
      [
        "launch",
        "Launch plan",
        "draft",
        { parent: "marketing", content: "Blog post, press kit, and a talk on the day." },
      ],
    ],
    milestone: [
      ["beta_open", "Beta is open", "reached", { due_at: "2026-02-16" }],
      ["go_live", "Public launch", "pending", { due_at: "2026-05-18" }],
    ],
    risk: [
      [
        "capacity",
        "The tile store cannot take the load of the launch",
        "identified",
        { impact: "high", probability: "medium" },
      ],
      [
        "licence",
        "The licence of the map data forbids resale",
        "identified",
        { type_key: "legal", impact: "critical", probability: "low" },
      ],
    ],
    requirement: [
      ["keys", "Every request carries an API key", "accepted", { priority: 1 }],
      [
        "p99",
        "99 of 100 requests are answered within 80 ms",
        "proposed",
        { type_key: "quality", priority: 2 },
      ],
    ],
  },
  [
    ["plan_beta", "supports", "goal_launch"],
    ["plan_release", "supports", "goal_launch"],
    ["plan_press", "supports", "goal_adoption"],
    ["plan_release", "depends_on", "plan_beta"],
    ["plan_release", "targets", "ms_go_live"],
    ["task_rate_limits", "part_of", "plan_beta"],
    ["task_review_spec", "part_of", "plan_beta"],
    ["task_load_test", "part_of", "plan_release"],
    ["task_cache", "part_of", "plan_release"],
    ["task_press_kit", "part_of", "plan_press"],
    ["task_review_spec", "depends_on", "task_rate_limits"],
    ["task_load_test", "depends_on", "task_cache"],
    ["task_cache", "mitigates", "risk_capacity"],
    ["risk_capacity", "threatens", "ms_go_live"],
    ["risk_licence", "threatens", "goal_launch"],
    ["task_load_test", "satisfies", "req_p99"],
    ["doc_api_spec", "satisfies", "req_keys"],
    ["task_rate_limits", "has_document", "doc_api_spec"],
    ["doc_launch", "references", "doc_api_spec"],
  ],
);
