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
