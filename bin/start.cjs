// Most clients are served by the daemon. Their process loads a CommonJS bundle of its own: through the whole program
// it takes 90 ms of processor time instead of 80, and the bar "relay ready_ms" of `npm run bench -- start` is 100 ms.
/** The modules of Node that serving needs. */
const NEEDED =
  "async_hooks child_process console crypto fs/promises module net os perf_hooks process timers/promises util";

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
  if (["serve", "daemon"].includes(process.argv[2])) staySmall();
  // Some versions of Node warn that their SQLite is experimental. Users can do nothing about it.
  const emitWarning = process.emitWarning;
  process.emitWarning = (warning, ...more) => {
    if (!String(warning).startsWith("SQLite is an experimental feature"))
      emitWarning.call(process, warning, ...more);
  };
  import("../program/main.js");
}

// Young objects get a small space that does not grow. The bars "empty rss_mb" and "daemon rss_mb" of `npm run bench --
// start` are 80 MB: without this they take 85 and 87. With four servers the daemon takes 12 MB less (`bench -- sessions`).
function staySmall() {
  // With another flag, V8 compiles each further module of Node instead of using what Node ships. That takes 20 ms.
  for (const name of NEEDED.split(" ")) process.getBuiltinModule(`node:${name}`);
  process.stdin;
  process.stdout;
  const { setFlagsFromString } = require("node:v8");
  setFlagsFromString("--semi-space-growth-factor=1");
}
