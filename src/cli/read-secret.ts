import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";

const MAX_CHARS = 65_536;

/** Reads a value without showing it: after a question in the terminal, or all of stdin without its last line break. */
export async function readSecret(question: string | undefined): Promise<string> {
  if (question === undefined) {
    let text = "";
    for await (const chunk of process.stdin.setEncoding("utf8")) {
      text += chunk;
      if (text.length > MAX_CHARS) break;
    }
    return text.replace(/\r?\n$/, "").slice(0, MAX_CHARS);
  }
  process.stderr.write(question);
  // The reader echoes into nothing.
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: process.stdin, output, terminal: true });
  try {
    return await reader.question("");
  } finally {
    reader.close();
    process.stderr.write("\n");
  }
}
