/** Props of a colour; none where the person wants no colour. What is shown never depends on it. */
export function colour(name: "cyan" | "green" | "red" | "yellow" | "blue" | "gray"): { color?: string } {
  return process.env.NO_COLOR ? {} : { color: name };
}
