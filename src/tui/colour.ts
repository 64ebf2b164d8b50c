/** Props for a colour; empty with NO_COLOR. Colour never carries meaning of its own. */
export function colour(name: "cyan" | "green" | "red" | "yellow" | "blue" | "gray"): { color?: string } {
  return process.env.NO_COLOR ? {} : { color: name };
}
