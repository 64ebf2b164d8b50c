// An agent's SQL runs in its own process, because only killing a process stops an endless statement.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type CallContext, problem } from "keyhole";
import type { SqlAnswer, SqlRequest } from "./request.ts";

const PROGRAM = fileURLToPath(new URL("./sql-process.ts", import.meta.url));
const MOST_BYTES = 8_000_000;

export async function runSql(request: SqlRequest, ms: number, { signal }: CallContext): Promise<unknown> {
  const answer = JSON.parse(await answerOf(request, ms, signal)) as SqlAnswer;
  if (answer.ok) return answer.result;
  const fieldErrors = [{ field: "sql", message: answer.reason }];
  throw problem("INVALID_PARAMS", { name: "the SQL" }, { fieldErrors });
}

function answerOf(request: SqlRequest, ms: number, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { timeout: ms, killSignal: "SIGKILL", maxBuffer: MOST_BYTES, signal } as const;
    const child = execFile(process.execPath, [PROGRAM], options, (error, stdout, stderr) => {
      if (!error) return resolve(stdout);
      if (error.code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER") {
        return reject(
          problem("LIMIT_EXCEEDED", { what: "The result", actual: "larger", limit: `${MOST_BYTES} bytes` }),
        );
      }
      if (error.killed) return reject(problem("TIMEOUT", { name: "the SQL", ms }));
      reject(problem("INTERNAL", { name: "the SQL", reason: stderr.trim() || error.message }));
    });
    // A process that ends before it reads its request is reported by its exit code.
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(JSON.stringify(request));
  });
}
