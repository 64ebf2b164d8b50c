import { type Document, isMap, isSeq, parseDocument } from "yaml";
import { fieldsOf } from "../../../base/util/plain-object.ts";
import { type ConfigEdit, type Format, refused } from "./format.ts";

/** YAML. The document is written anew: comments and order stay, spacing may change. */
export const yamlFormat: Format = {
  empty: "",
  read: async (text) => open(text).toJS() ?? {},
  edit: async (text, edit, eol) => {
    const document = open(text);
    apply(document, edit);
    const [, indent = "  "] = /^( +)[^\s-]/m.exec(text) ?? [];
    const printed = document.toString({
      lineWidth: 0,
      indent: Math.min(indent.length, 8),
      indentSeq: !/^\S[^\n]*:\r?\n- /m.test(text),
      flowCollectionPadding: !/[{[]\S/.test(text),
    });
    return printed.replace(/\r?\n/g, eol);
  },
};

function open(text: string): Document.Parsed {
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error) throw refused(error.message.split("\n")[0] ?? "");
  return document;
}

function apply(document: Document.Parsed, { at, remove, set, isList = false }: ConfigEdit): void {
  const found = document.getIn(at, true);
  if (!isMap(found) && !isSeq(found)) document.setIn(at, document.createNode(isList ? [] : {}));
  const servers = document.getIn(at, true);
  if (isSeq(servers)) {
    const gone = new Set([...remove, ...Object.keys(set)]);
    servers.items = servers.items.filter((item) => !(isMap(item) && gone.has(String(item.get("name")))));
    for (const [name, value] of Object.entries(set))
      servers.add(document.createNode({ name, ...fieldsOf(value) }));
    return;
  }
  for (const name of remove) document.deleteIn([...at, name]);
  for (const [name, value] of Object.entries(set)) document.setIn([...at, name], document.createNode(value));
}
