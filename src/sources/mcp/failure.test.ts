import { expect, test } from "vitest";
import { complaintOf } from "./failure.ts";

const NODE = `Starting up
/srv/server.cjs:2
throw new Error("API_KEY is missing");
^

Error: API_KEY is missing
    at Object.<anonymous> (/srv/server.cjs:2:7)
    at Module._compile (node:internal/modules/cjs/loader:1700:14) {
  code: 'E_KEY'
}

Node.js v26.0.0
`;
const MODULE = `node:internal/modules/cjs/loader:1400
  throw err;
  ^

Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'x'
    at packageResolve (node:internal:1:1) {
  code: 'ERR_MODULE_NOT_FOUND'
}

Node.js v26.0.0`;
const PYTHON = `Traceback (most recent call last):
  File "/srv/server.py", line 1, in <module>
    import absent
ModuleNotFoundError: No module named 'absent'
`;
const GO = `panic: no config

goroutine 1 [running]:
main.main()
\t/srv/main.go:4 +0x2c
exit status 2`;

test.each([
  ["Node's stack", NODE, "Error: API_KEY is missing"],
  ["a code in brackets", MODULE, "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'x'"],
  ["Python's traceback", PYTHON, "ModuleNotFoundError: No module named 'absent'"],
  ["a panic of Go", GO, "panic: no config"],
  ["a log", "12:00 ERROR: no key\n12:01 INFO: bye\n", "12:00 ERROR: no key"],
  ["a line without the word", "no config found\n\nNode.js v26.0.0\n", "no config found"],
])("the complaint of a server is the line that says it: %s", (_, stderr, line) => {
  expect(complaintOf(stderr)).toBe(`; it said: ${line}`);
});

test("a server that said nothing has no complaint", () => {
  expect(complaintOf("\n \n")).toBe("");
});
