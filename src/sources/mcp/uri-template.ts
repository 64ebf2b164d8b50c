// Linear: the closing brace bounds each match.
const EXPRESSION = /\{[+#./;?&]?([^{}]*)\}/g;

/** Returns the variable names of a URI template. */
export function templateVariables(template: string): string[] {
  const names = [...template.matchAll(EXPRESSION)].flatMap(([, inner = ""]) => inner.split(","));
  const plain = names.map((name) => name.replace(/\*$|:\d{1,5}$/, "").trim());
  return [...new Set(plain.filter((name) => name !== ""))];
}
