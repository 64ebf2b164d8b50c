// Research: do soil sensors save water in an orchard?
import { toProject } from "./project-data.ts";

export const ORCHARD = toProject(
  [
    "orchard",
    "Orchard sensors",
    "planning",
    {
      type_key: "research",
      description: "A season of measuring whether soil sensors save water.",
      due_at: "2026-11-30",
    },
  ],
  {
    goal: [
      [
        "water",
        "Use a fifth less water than last season",
        "draft",
        { type_key: "metric", due_at: "2026-10-31" },
      ],
      ["know", "Know which depth of sensor tells most", "active", { type_key: "learning" }],
    ],
    plan: [
      ["install", "Install the sensors", "draft", { due_at: "2026-04-20" }],
      ["season", "Measure for a season", "draft", { due_at: "2026-10-31" }],
    ],
    task: [
      ["order", "Order forty soil sensors", "in_progress", { priority: 1, due_at: "2026-03-16" }],
      ["plots", "Mark the eight test plots", "todo", { priority: 2, due_at: "2026-04-03" }],
      ["calibrate", "Calibrate the sensors against oven-dried samples", "todo", { priority: 2 }],
      ["gateway", "Find a place for the radio gateway", "todo", { type_key: "research", priority: 3 }],
      [
        "literature",
        "Read the irrigation studies of the last ten years",
        "done",
        { type_key: "research", priority: 4 },
      ],
    ],
    document: [
      ["methods", "Methods", "published", { type_key: "folder" }],
      [
        "protocol",
        "Measuring protocol",
        "in_review",
        { type_key: "spec", parent: "methods", content: "Eight plots, three depths, one reading an hour." },
      ],
      ["results", "Results", "draft", { type_key: "folder" }],
      [
        "last_season",
        "Water use of last season",
        "published",
        { type_key: "report", parent: "results", content: "4,120 cubic metres between April and October." },
      ],
    ],
    milestone: [
      ["first_reading", "First reading", "pending", { type_key: "review", due_at: "2026-04-22" }],
      ["harvest", "Harvest", "pending", { type_key: "deadline", due_at: "2026-09-15" }],
    ],
    risk: [
      [
        "supply",
        "The sensors arrive after the buds",
        "identified",
        { type_key: "schedule", impact: "critical", probability: "medium" },
      ],
      ["wet_year", "A wet year hides the effect", "accepted", { impact: "medium", probability: "medium" }],
    ],
    requirement: [
      ["battery", "A battery lasts the whole season", "accepted", { type_key: "quality", priority: 1 }],
      ["hourly", "Readings are stored every hour", "accepted", { priority: 2 }],
    ],
  },
  [
    ["plan_install", "supports", "goal_know"],
    ["plan_season", "supports", "goal_water"],
    ["plan_season", "depends_on", "plan_install"],
    ["plan_install", "targets", "ms_first_reading"],
    ["task_order", "part_of", "plan_install"],
    ["task_plots", "part_of", "plan_install"],
    ["task_calibrate", "part_of", "plan_install"],
    ["task_gateway", "part_of", "plan_install"],
    ["task_calibrate", "depends_on", "task_order"],
    ["risk_supply", "threatens", "plan_install"],
    ["risk_wet_year", "threatens", "goal_water"],
    ["task_calibrate", "has_document", "doc_protocol"],
    ["doc_protocol", "satisfies", "req_hourly"],
  ],
);
