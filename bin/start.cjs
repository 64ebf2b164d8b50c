// Most clients are served by the daemon, through a process that should take little memory. It is in CommonJS, because
// the modules of Node cost megabytes if they are imported.
const { setFlagsFromString } = require("node:v8");

if (process.argv[2] === "serve")
  require("../relay/serve-by-daemon.cjs")
    .serveByDaemon(process.argv.slice(3))
    .then((isServed) => {
      if (isServed) return;
      process.argv.splice(3, 0, "--no-daemon");
      runProgram();
    }, runProgram); // The program meets the same problem, and can tell it.
else runProgram();

function runProgram() {
  // Some versions of Node call their own SQLite an experiment. Users can do nothing about it, so they are not told.
  const emitWarning = process.emitWarning;
  process.emitWarning = (warning, ...rest) => {
    if (!String(warning).startsWith("SQLite is an experimental feature"))
      emitWarning.call(process, warning, ...rest);
  };
  // Nearly everything that the program allocates while it loads stays, so room for short-lived objects would be
  // megabytes that nobody needs. It may grow once the program has begun.
  setFlagsFromString("--semi-space-growth-factor=1");
  import("../cli/main.js").finally(() => setFlagsFromString("--semi-space-growth-factor=2"));
}
