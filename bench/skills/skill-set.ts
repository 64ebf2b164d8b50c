import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A skill of the benchmark, with a need that it serves: the words of its text, not those of its description. */
export interface BenchSkill {
  readonly name: string;
  readonly description: string;
  readonly body: string;
  readonly need: string;
}

const SUBJECTS = [
  ["invoices", "invoices of suppliers", "bills that vendors send us"],
  ["contracts", "contracts with customers", "agreements that clients sign"],
  ["payroll", "the monthly payroll", "salaries of the staff"],
  ["releases", "releases of the app", "versions that we ship"],
  ["migrations", "migrations of the database", "changes of tables and columns"],
  ["incidents", "incidents in production", "outages of the service"],
  ["interviews", "interviews with candidates", "talks with applicants"],
  ["surveys", "surveys of users", "questionnaires for our audience"],
  ["newsletters", "newsletters to subscribers", "mailings to the list"],
  ["warehouse", "stock in the warehouse", "goods on the shelves"],
  ["translations", "translations of the product", "texts in other languages"],
  ["icons", "icons of the design system", "pictograms of the interface"],
  ["tickets", "tickets of support", "complaints of customers"],
  ["budgets", "budgets of departments", "spending limits of teams"],
  ["experiments", "experiments on the website", "tests of variants with visitors"],
  ["certificates", "certificates of servers", "TLS keys of hosts"],
  ["trips", "trips of employees", "travel of colleagues"],
  ["lectures", "lectures of the academy", "lessons of the course"],
] as const;

const TASKS = [
  ["audit", "Audits", "a control is due", "check for mistakes before the auditor comes"],
  ["summarise", "Summarises", "a manager wants the gist", "a short overview for the boss"],
  ["schedule", "Schedules", "dates are missing", "find days that suit everybody"],
  ["archive", "Archives", "old ones have to leave the desk", "put away what is finished"],
  ["price", "Prices", "somebody asks what it costs", "work out the cost"],
  ["compare", "Compares", "two versions are at hand", "show what differs from last time"],
  ["announce", "Announces", "people outside have to know", "write a message to the public"],
  ["import", "Imports", "a file comes from elsewhere", "read a spreadsheet that a partner sent"],
  ["repair", "Repairs", "something is broken", "fix what went wrong"],
  ["forecast", "Forecasts", "next year is planned", "estimate the next twelve months"],
  ["approve", "Approves", "a signature is needed", "get the yes of whoever is responsible"],
  ["teach", "Teaches", "a new colleague starts", "explain to a beginner how it goes"],
] as const;

/** Skills as people write them: a sentence on what they do, and when to use them. Every number takes the first ones. */
export function benchSkills(count: number): BenchSkill[] {
  const all = TASKS.flatMap(([task, does, when, need]) =>
    SUBJECTS.map(
      ([subject, of, other]): BenchSkill => ({
        name: `${task}-${subject}`,
        description: `${does} ${of} by the rules of the company. Use it when ${when}, or when a person asks to ${task} ${of}, also if they name only a part of them.`,
        body: `Use this to ${need}: ${other}.\n\n1. Collect ${other}.\n2. Ask the owner what is open.\n3. Write the result into the shared folder.`,
        need: `${need}: ${other}`,
      }),
    ),
  );
  return all.slice(0, count);
}

export function writeSkills(folder: string, skills: readonly BenchSkill[]): void {
  for (const { name, description, body } of skills) {
    mkdirSync(join(folder, name), { recursive: true });
    const text = `---\nname: ${name}\ndescription: ${JSON.stringify(description)}\n---\n${body}\n`;
    writeFileSync(join(folder, name, "SKILL.md"), text);
  }
}
