/**
 * How far a rule can speak for a command. `plain`: its words say what it does. `named`: a rule has to name its
 * first `depth` arguments. `exact`: only a rule with all its words covers it. `opaque`: no rule covers it.
 */
export type RuleScope =
  | { readonly kind: "plain" }
  | { readonly kind: "named"; readonly depth: number; readonly reason: string }
  | { readonly kind: "exact" | "opaque"; readonly reason: string };

/**
 * How a program goes beyond its own words.
 * `opaque`: no rule can cover it. `shell` and `interpreter`: it runs a file or code, and is opaque where that
 * comes from its input. `exact`: a rule covers it only with all its words. `named`: a rule has to name its
 * first `depth` arguments, such as `npm run` or `make test`.
 */
export type ProgramKind = "opaque" | "shell" | "interpreter" | "exact" | "named";

export interface ProgramRow {
  /** Programs, separated by blanks. */
  readonly names: string;
  readonly kind: ProgramKind;
  /** Completes a sentence that starts with the program's name. */
  readonly reason: string;
  /** Options and arguments as `hasOption` reads them. Without it, the row always counts. */
  readonly when?: string;
  /** First arguments with which the row does not count. */
  readonly unless?: string;
  /** Options before the first argument that change nothing about it, and those of them that take a value. */
  readonly flags?: string;
  readonly values?: string;
  /** How many arguments a rule has to name; 1 without it. */
  readonly depth?: number;
  /** Whether the last argument that a rule has to name is itself a program, with its own rows. */
  readonly runs?: boolean;
  /** Whether long options start with one dash, so that letters are never bundled. */
  readonly oneDash?: boolean;
}

/**
 * Whether arguments have an option: long ones also abbreviated and with a value behind `=`, short ones also
 * bundled and with their value behind. A word without a dash has to be the first argument that is no option,
 * `pkg.set` the first two. `*` is any argument, `**` two that are no options, `*=` one that assigns, `@*` and `-B*`
 * one that begins so.
 */
export function hasOption(args: readonly string[], option: string, oneDash = false): boolean {
  if (option === "*") return args.length > 0;
  if (option === "**") return args.filter((arg) => !arg.startsWith("-")).length > 1;
  if (option === "*=") return args.some((arg) => /^[^-=][^=]*=/.test(arg));
  if (option.endsWith("*")) return args.some((arg) => arg.startsWith(option.slice(0, -1)));
  if (option.startsWith("-")) return args.some((arg) => isOption(arg, option, oneDash));
  const plain = args.filter((arg) => !/^[-+]./.test(arg));
  return option.split(".").every((word, index) => plain[index] === word);
}

function isOption(arg: string, option: string, oneDash: boolean): boolean {
  const [name = ""] = arg.split("=");
  if (oneDash) return name === option || name === `-${option}`;
  if (option.startsWith("--")) return /^--./.test(name) && option.startsWith(name);
  return /^-[A-Za-z]/.test(arg) && arg.includes(option.charAt(1));
}
