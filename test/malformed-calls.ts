/**
 * Calls as weak models send them, in shapes that people report in public threads: arguments beside the address, as
 * JSON text, inside another object, under the name that another tool has for them, or as one value without a name.
 */
export interface MalformedCall {
  readonly shape: string;
  readonly tool: "exec" | "get";
  readonly input: unknown;
  /** The answer of the call if it works all the same; otherwise it has to name each of these. */
  readonly works?: string;
  readonly names?: readonly string[];
}

interface Sample {
  readonly op: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Names under which other programs know a required argument. */
  readonly others: Readonly<Record<string, readonly string[]>>;
}

export const SAMPLES: readonly Sample[] = [
  {
    op: "files.file.write",
    args: { path: "a.txt", content: "hi" },
    others: {
      path: ["file", "file_path", "filePath", "filename", "paths"],
      content: ["contents", "text", "data"],
    },
  },
  {
    op: "files.file.read",
    args: { path: "a.txt" },
    others: {
      path: ["file", "file_path", "filePath", "relative_path", "absolute_path", "target_file", "uri"],
    },
  },
  {
    op: "shell.command.run",
    args: { command: "ls" },
    others: { command: ["cmd", "commands", "script", "commandLine"] },
  },
  {
    op: "web.page.open",
    args: { url: "https://example.com" },
    others: { url: ["URL", "link", "address", "href", "urls"] },
  },
  {
    op: "issues.issue.create",
    args: { title: "Broken", body: "It is." },
    others: { title: ["name", "subject", "Title"], body: ["description", "text", "content"] },
  },
  {
    op: "notes.note.search",
    args: { query: "tea", limit: 5 },
    others: { query: ["q", "search", "searchQuery", "search_query"] },
  },
];

const WRAPPERS = ["args", "arguments", "params", "parameters", "input", "kwargs", "properties"];

function callsOf({ op, args, others }: Sample): MalformedCall[] {
  const ran = `ran ${op} ${JSON.stringify(args)}`;
  const works = (shape: string, input: unknown, tool: "exec" | "get" = "exec") => ({
    shape,
    tool,
    input,
    works: ran,
  });
  const text = JSON.stringify(args);
  const [first = "", value] = Object.entries(args)[0] ?? [];
  return [
    works("arguments beside the op", { op, ...args }),
    works("arguments beside the tool", { tool: op, ...args }),
    works("arguments beside empty args", { op, args: {}, ...args }),
    works("arguments beside args that are null", { op, args: null, ...args }),
    {
      shape: "no required argument among the others",
      tool: "exec",
      input: { op, args: Object.fromEntries(Object.entries(args).slice(1)) },
      names: [first, "required"],
    },
    works("args as JSON text", { op, args: text }),
    works("args as JSON text in a code block", { op, args: `\`\`\`json\n${text}\n\`\`\`` }),
    works("args as JSON text of JSON text", { op, args: JSON.stringify(text) }),
    ...["arguments", "params", "parameters", "input"].map((name) =>
      works(`args called ${name}`, { op, [name]: args }),
    ),
    ...["tool", "name", "route", "tool_name", "toolName", "function"].map((name) =>
      works(`op called ${name}`, { [name]: op, args }),
    ),
    works("the whole call as JSON text", JSON.stringify({ op, args })),
    works("the whole call inside args", { args: { op, args } }),
    works("the whole call as JSON text inside args", { args: JSON.stringify({ op, args }) }),
    works("the whole call inside args, with its op", { op, args: { op, args } }),
    ...WRAPPERS.map((name) => ({
      shape: `arguments inside args.${name}`,
      tool: "exec" as const,
      input: { op, args: { [name]: args } },
      names: [first, `move it out of \\"${name}\\"`],
    })),
    works("arguments as a list of one", { op, args: [args] }),
    ...Object.entries(others).flatMap(([name, wrong]) =>
      wrong.map((other) => {
        const { [name]: moved, ...rest } = args;
        return {
          shape: `${name} called ${other}`,
          tool: "exec" as const,
          input: { op, args: { ...rest, [other]: moved } },
          names: [name, `rename \\"${other}\\" to \\"${name}\\"`],
        };
      }),
    ),
    { shape: "no arguments", tool: "exec", input: { op }, names: [first, "required"] },
    {
      shape: "a bare value",
      tool: "exec",
      input: { op, args: value },
      names: ["args", "object of named arguments"],
    },
    {
      shape: "a value of another type",
      tool: "exec",
      input: { op, args: { ...args, [first]: { value } } },
      names: [first, "string"],
    },
  ];
}

/** All of them, and some about the address alone. */
export const MALFORMED_CALLS: readonly MalformedCall[] = [
  ...SAMPLES.flatMap(callsOf),
  { shape: "nothing", tool: "exec", input: {}, names: ["op"] },
  { shape: "null", tool: "exec", input: null, names: ["op"] },
  { shape: "an empty op", tool: "exec", input: { op: "", args: {} }, names: ["op"] },
  {
    shape: "an op of a missing verb",
    tool: "exec",
    input: { op: "files.file.wrote" },
    names: ["files.file.write"],
  },
  {
    shape: "an op with underscores",
    tool: "exec",
    input: { op: "files_write_fil" },
    names: ["files.file.write"],
  },
  {
    shape: "get by op",
    tool: "get",
    input: { op: "files.file.read", path: "a.txt" },
    works: 'ran files.file.read {"path":"a.txt"}',
  },
  {
    shape: "get with args",
    tool: "get",
    input: { routes: [{ op: "files.file.read", args: { path: "a.txt" } }] },
    works: 'ran files.file.read {"path":"a.txt"}',
  },
];
