import type { ContentFormat } from "../../../schema/pipeline.ts";
import { toVisibleText } from "../../../util/visible-text.ts";
import { documentFacts, documentPath, type FormatOptions, toNode } from "./to-node.ts";

const TEXT =
  /^(?:text\/|application\/(?:[\w.+-]*\+)?(?:json|xml|yaml|x-yaml|toml|javascript|typescript|sql)\b)/i;

/** Format for any other text, unchanged. Put it last in a list of formats. */
export function createTextFormat(options: FormatOptions = {}): ContentFormat {
  return {
    name: "Text",
    canHandle: (contentType) => TEXT.test(contentType),
    parse: (content, basePath) => {
      const { id, name } = content;
      const text = toVisibleText(content.content);
      const path = documentPath(content, basePath);
      const metadata = documentFacts(content);
      return [toNode({ id, name, path, type: "document", content: text, metadata }, options)];
    },
  };
}
