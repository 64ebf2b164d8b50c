// Most clients are served by the daemon. Their process loads a CommonJS bundle of its own: through the whole program
// it takes 90 ms of processor time instead of 80, and the bar "relay ready_ms" of `npm run bench -- start` is 100 ms.

if (process.argv[2] === "serve" && !["--no-daemon", "--daemon"].some((flag) => process.argv.includes(flag)))
  require("../relay/serve-by-daemon.cjs")
    .serveByDaemon(process.argv.slice(3))
    .then((isServed) => {
      if (isServed) return;
      process.argv.splice(3, 0, "--no-daemon");
      runProgram();
    }, runProgram); // The program meets the same problem, and prints it.
else runProgram();

function runProgram() {
  // Some versions of Node warn that their SQLite is experimental. Users can do nothing about it.
  const emitWarning = process.emitWarning;
  process.emitWarning = (warning, ...more) => {
    if (!String(warning).startsWith("SQLite is an experimental feature"))
      emitWarning.call(process, warning, ...more);
  };
  import("../program/main.js");
}
