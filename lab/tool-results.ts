/** The result of a tool as a model reads it. */
export interface ReadResult {
  readonly text: string;
  /** Pictures beside the text, in the result itself. */
  readonly pictures: number;
}

type Fields = Readonly<Record<string, unknown>>;

/** The tool results in a request to a model, in order, whichever vendor's format it has. */
export function toolResults(body: unknown): ReadResult[] {
  const { messages, input, contents } = body as Record<string, Fields[] | undefined>;
  if (contents) return contents.flatMap(({ parts }) => listed(parts).flatMap(ofGemini));
  return (messages ?? input ?? []).flatMap((message) => {
    if (message.type === "function_call_output") return [toRead(message.output)];
    if (message.type === "tool_search_output") return [{ text: JSON.stringify(message.tools), pictures: 0 }];
    if (message.role === "tool") return [toRead(message.content)];
    return listed(message.content)
      .filter(({ type }) => type === "tool_result")
      .map(({ content }) => toRead(content));
  });
}

/** Whether a picture with these bytes, or any other picture, is anywhere in a request; or its bytes are read as text. */
export function pictureIn(body: unknown, base64: string): "picture" | "text" | "absent" {
  const found = new Set<string>();
  walk(body, "", (key, value) => {
    if (key === "mimeType" || key === "media_type" || key === "mime_type") {
      if (String(value).startsWith("image/")) found.add("picture");
    }
    if (typeof value !== "string") return;
    if (value.startsWith("data:image/")) found.add("picture");
    else if (value.includes(base64)) found.add(key === "data" ? "picture" : "text");
  });
  if (found.has("text")) return "text";
  return found.has("picture") ? "picture" : "absent";
}

function walk(node: unknown, key: string, visit: (key: string, value: unknown) => void): void {
  visit(key, node);
  if (typeof node !== "object" || node === null) return;
  for (const [name, value] of Object.entries(node)) walk(value, Array.isArray(node) ? key : name, visit);
}

/** Gemini's client wraps the result in an object with one field. */
function ofGemini({ functionResponse }: Fields): ReadResult[] {
  if (!functionResponse) return [];
  const { response, parts } = functionResponse as { response: Fields; parts?: unknown[] };
  const values = Object.values(response);
  const text = values.length === 1 && typeof values[0] === "string" ? values[0] : JSON.stringify(response);
  return [{ text, pictures: parts?.length ?? 0 }];
}

function toRead(content: unknown): ReadResult {
  if (typeof content === "string") return { text: content, pictures: 0 };
  // A search of Claude Code answers with the names of tools.
  const texts = listed(content).flatMap(({ text, tool_name: name = text }) =>
    typeof name === "string" ? [name] : [],
  );
  return { text: texts.join("\n"), pictures: listed(content).length - texts.length };
}

function listed(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter((part) => typeof part === "object" && part !== null) : [];
}
