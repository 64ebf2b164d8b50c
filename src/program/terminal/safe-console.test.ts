import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { createSafeConsole } from "./safe-console.ts";

test("a console made by the safe console is safe too", () => {
  const written: string[] = [];
  const stream = () =>
    new Writable({ write: (chunk, _encoding, done) => done(void written.push(String(chunk))) });
  const { Console } = createSafeConsole(stream()) as unknown as typeof console;
  new Console(stream(), stream()).log("a\u001b[31mb");
  expect(written.join("")).not.toContain("\u001b");
  expect(written.join("")).toContain("b\n");
});
