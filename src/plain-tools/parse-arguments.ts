/** Parses arguments as a model wrote them, which may not be JSON. */
export function parseArguments(text: string): { readonly value: unknown } | { readonly refusal: string } {
  try {
    return { value: text.trim() === "" ? {} : JSON.parse(text) };
  } catch {
    return {
      refusal: "INVALID_INPUT: The arguments are not JSON.\nWrite them as one JSON object and call again.",
    };
  }
}
