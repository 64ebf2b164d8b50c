// Most clients are served by the daemon. Their process loads a CommonJS bundle of its own: through the whole program
// it takes 90 ms of processor time instead of 80, and the bar "relay ready_ms" of `npm run bench -- start` is 100 ms.
/** The modules of Node that serving needs. */
const NEEDED =
  "async_hooks child_process console crypto fs/promises module net os perf_hooks process timers/promises util";

const isDaemon = process.argv.includes("--daemon");
if (process.argv[2] === "serve" && !isDaemon && !process.argv.includes("--no-daemon"))
  require("../relay/serve-by-daemon.cjs")
    .serveByDaemon(process.argv.slice(3))
    .then((isServed) => {
      if (isServed) return;
      process.argv.splice(3, 0, "--no-daemon");
      runProgram();
    }, runProgram); // The program meets the same problem, and prints it.
else runProgram();

function runProgram() {
  // The daemon gives memory back by itself, and starts quicker without.
  if (process.argv[2] === "serve" && !isDaemon) staySmall();
  // Some versions of Node warn that their SQLite is experimental. Users can do nothing about it.
  const emitWarning = process.emitWarning;
  process.emitWarning = (warning, ...more) => {
    if (!String(warning).startsWith("SQLite is an experimental feature"))
      emitWarning.call(process, warning, ...more);
  };
  import("../program/main.js");
}

// Young objects get a small space that does not grow. The bar "empty rss_mb" of `npm run bench -- start` is 80 MB: without
// this it takes 88.
function staySmall() {
  // With another flag, V8 compiles each further module of Node instead of using what Node ships. That takes 20 ms.
  for (const name of NEEDED.split(" ")) process.getBuiltinModule(`node:${name}`);
  process.stdin;
  process.stdout;
  const { setFlagsFromString } = require("node:v8");
  setFlagsFromString("--semi-space-growth-factor=1");
}
