// Bounded by its closing brace, so linear.
const EXPRESSION = /\{[+#./;?&]?([^{}]*)\}/g;

/** The names of the variables of a URI template. */
export function templateVariables(template: string): string[] {
  const names = [...template.matchAll(EXPRESSION)].flatMap(([, inner = ""]) => inner.split(","));
  const plain = names.map((name) => name.replace(/\*$|:\d{1,5}$/, "").trim());
  return [...new Set(plain.filter((name) => name !== ""))];
}
