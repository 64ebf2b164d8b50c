// Most clients are served by the daemon, through a process that should take little memory. It is in CommonJS, because
// the modules of Node cost megabytes if they are imported.
const CHECK_MS = 20;
const START_MS = 1_000;
/** A program that takes more than this is no small one. */
const SMALL_BYTES = 90 * 1024 * 1024;
/** The modules of Node that serving needs. */
const NEEDED =
  "async_hooks child_process console crypto fs/promises module net os perf_hooks process timers/promises util";

if (process.argv[2] === "serve" && !process.argv.includes("--no-daemon"))
  require("../relay/serve-by-daemon.cjs")
    .serveByDaemon(process.argv.slice(3))
    .then((isServed) => {
      if (isServed) return;
      process.argv.splice(3, 0, "--no-daemon");
      runProgram();
    }, runProgram); // The program meets the same problem, and can tell it.
else runProgram();

function runProgram() {
  setFlags(["--sparkplug", "--maglev", "--opt"]);
  if (["serve", "daemon"].includes(process.argv[2])) staySmall();
  // Some versions of Node call their own SQLite an experiment. Users can do nothing about it, so they are not told.
  const emitWarning = process.emitWarning;
  process.emitWarning = (warning, ...rest) => {
    if (!String(warning).startsWith("SQLite is an experimental feature"))
      emitWarning.call(process, warning, ...rest);
  };
  import("../cli/main.js");
}

// Nearly everything that the program allocates while it loads stays, so room for short-lived objects would be
// megabytes that nobody needs. It may grow after the start, or as soon as there is much to load.
function staySmall() {
  // With another flag, V8 compiles each further module of Node instead of using what Node ships. That takes 20 ms.
  for (const name of NEEDED.split(" ")) process.getBuiltinModule(`node:${name}`);
  process.stdin;
  process.stdout;
  setFlags(["--semi-space-growth-factor=1"]);
  const checking = setInterval(() => {
    if (performance.now() < START_MS && process.memoryUsage.rss() < SMALL_BYTES) return;
    clearInterval(checking);
    setFlags(["--semi-space-growth-factor=2"]);
  }, CHECK_MS).unref();
}

function setFlags(flags) {
  const { setFlagsFromString } = require("node:v8");
  for (const flag of flags) setFlagsFromString(flag);
}
