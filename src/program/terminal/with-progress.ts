const QUIET_MS = 1_000;
const STEP_MS = 250;
const MARKS = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/**
 * Shows the progress of long work on stderr after the first second, and removes the line at the end. Only in a
 * terminal: logs and pipes get nothing.
 */
export async function withProgress<T>(what: () => string, work: () => Promise<T>): Promise<T> {
  const { stderr } = process;
  if (!stderr.isTTY) return work();
  const started = performance.now();
  let count = 0;
  const timer = setInterval(() => {
    const passed = performance.now() - started;
    if (passed < QUIET_MS) return;
    count += 1;
    const line = `${MARKS[count % MARKS.length]} ${what()} (${Math.floor(passed / 1_000)} s)`;
    stderr.write(`\r\u001b[K${line.slice(0, (stderr.columns || 80) - 1)}`);
  }, STEP_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    if (count > 0) stderr.write("\r\u001b[K");
  }
}
