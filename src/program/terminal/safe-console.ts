import { Console } from "node:console";
import { Writable } from "node:stream";
import { hideSecrets, knowSecrets } from "../../base/safety/known-secrets.ts";
import { createRedact } from "../../base/safety/redact.ts";
import { secretVariables } from "../../base/safety/secret-values.ts";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import { reasonOf } from "../../base/util/reason-of.ts";

const redactKinds = createRedact([], { kinds: true });

/**
 * Makes the console of this process safe: its lines hold no known secret and nothing that a terminal obeys. Errors
 * that nobody catches are printed the same way. Whatever looks like a secret is hidden on stderr only: stdout carries
 * answers.
 */
export function installSafeConsole(): void {
  // Compare constructors: in Node, every console is an `instanceof` every console class.
  if (globalThis.console.constructor === SafeConsole) return;
  knowSecrets(secretVariables(process.env));
  globalThis.console = createSafeConsole(process.stdout);
  process.on("uncaughtException", (error: NodeJS.ErrnoException) => {
    // The reader of a pipe has left, as `head` does.
    if (error.code === "EPIPE") process.exit(0);
    const hint = "With KEYHOLE_DEBUG=1 it shows where.";
    console.error(process.env.KEYHOLE_DEBUG ? error : `Keyhole failed: ${reasonOf(error)}\n${hint}`);
    process.exit(1);
  });
}

/** A console for this stream, and stderr for errors. */
export function createSafeConsole(stdout: NodeJS.WritableStream): Console {
  return new SafeConsole(stdout, process.stderr);
}

class SafeConsole extends Console {
  /** Ink makes a console of the same class, which prints above the screen. */
  override readonly Console = SafeConsole as unknown as Console["Console"];

  constructor(stdout: NodeJS.WritableStream, stderr: NodeJS.WritableStream) {
    super({ stdout: throughSafe(stdout, stdout === process.stderr), stderr: throughSafe(stderr, true) });
  }
}

/** Reports each write as done at once, so that nothing is lost when the process exits. */
function throughSafe(stream: NodeJS.WritableStream, isLog: boolean): Writable {
  return new Writable({
    decodeStrings: false,
    write: (chunk, _encoding, done) => {
      const known = hideSecrets(toVisibleText(String(chunk)));
      stream.write(isLog ? redactKinds(known) : known);
      done();
    },
  });
}
