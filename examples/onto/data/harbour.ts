// Operations: an office moves to another building without losing a day of work.
import { toProject } from "./project-data.ts";

export const HARBOUR = toProject(
  [
    "harbour",
    "Harbour move",
    "active",
    {
      type_key: "operations",
      description: "The office moves to the harbour building.",
      due_at: "2026-04-30",
    },
  ],
  {
    goal: [
      ["no_standstill", "Nobody loses a working day", "active", { due_at: "2026-04-27" }],
      ["quiet_rooms", "A quiet room for every team", "active"],
    ],
    plan: [
      ["prepare", "Prepare the building", "active", { due_at: "2026-04-10" }],
      ["weekend", "Moving weekend", "draft", { type_key: "sprint", due_at: "2026-04-26" }],
    ],
    task: [
      ["cabling", "Have the network cabling laid", "in_progress", { priority: 1, due_at: "2026-03-25" }],
      ["movers", "Book the movers", "todo", { type_key: "coordinate", priority: 1, due_at: "2026-03-18" }],
      ["badges", "Order door badges", "todo", { priority: 3, due_at: "2026-04-08" }],
      ["seats", "Draw the seating plan", "in_progress", { priority: 2 }],
      [
        "old_lease",
        "Hand over the old office",
        "blocked",
        { type_key: "coordinate", priority: 2, due_at: "2026-04-30" },
      ],
      ["insurance", "Ask for three insurance offers", "done", { type_key: "research", priority: 4 }],
    ],
    document: [
      ["building", "Building", "published", { type_key: "folder" }],
      [
        "floor_plan",
        "Floor plan",
        "published",
        { type_key: "report", parent: "building", content: "Two floors, 64 desks, six rooms with doors." },
      ],
      [
        "lease",
        "Lease",
        "published",
        {
          type_key: "spec",
          parent: "building",
          content: "Five years, notice of six months, no alterations to load-bearing walls.",
        },
      ],
      ["people", "People", "published", { type_key: "folder" }],
      [
        "faq",
        "Questions of colleagues",
        "draft",
        { parent: "people", content: "Where do I park? Is there a shower? Both: in the basement." },
      ],
    ],
    milestone: [
      ["keys", "Keys are handed over", "pending", { type_key: "review", due_at: "2026-03-30" }],
      ["first_day", "First day in the harbour", "at_risk", { type_key: "deadline", due_at: "2026-04-27" }],
    ],
    risk: [
      [
        "cabling_late",
        "The cabling is late",
        "identified",
        { type_key: "schedule", impact: "high", probability: "high" },
      ],
      [
        "lift",
        "The goods lift is out of order on the day",
        "accepted",
        { impact: "medium", probability: "low" },
      ],
    ],
    requirement: [
      [
        "access",
        "Every room can be reached in a wheelchair",
        "accepted",
        { type_key: "constraint", priority: 1 },
      ],
      ["bandwidth", "Ten gigabits between the floors", "accepted", { type_key: "quality", priority: 2 }],
    ],
  },
  [
    ["plan_prepare", "supports", "goal_no_standstill"],
    ["plan_weekend", "supports", "goal_no_standstill"],
    ["task_seats", "supports", "goal_quiet_rooms"],
    ["plan_weekend", "depends_on", "plan_prepare"],
    ["plan_weekend", "targets", "ms_first_day"],
    ["task_cabling", "part_of", "plan_prepare"],
    ["task_badges", "part_of", "plan_prepare"],
    ["task_seats", "part_of", "plan_prepare"],
    ["task_movers", "part_of", "plan_weekend"],
    ["task_old_lease", "depends_on", "task_movers"],
    ["risk_cabling_late", "threatens", "ms_first_day"],
    ["risk_lift", "threatens", "plan_weekend"],
    ["task_cabling", "satisfies", "req_bandwidth"],
    ["task_seats", "has_document", "doc_floor_plan"],
    ["doc_floor_plan", "satisfies", "req_access"],
  ],
);
