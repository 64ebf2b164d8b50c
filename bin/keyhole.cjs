#!/usr/bin/env node
// Any Node since version 4 can parse this file. It tells an old one what is needed, before newer syntax stops it.
var found = process.versions.node.split(".").map(Number);
if (found[0] > 22 || (found[0] === 22 && found[1] >= 15)) {
  // The process of a client only passes lines on, so it interprets its code: the compilers of V8 would take ten
  // megabytes and save it 30 microseconds a call. The program itself switches them on again.
  if (process.argv[2] === "serve" && process.argv.indexOf("--no-daemon") < 0)
    ["sparkplug", "maglev", "opt"].forEach(withoutCompiler);
  require("./start.cjs");
} else {
  console.error(
    "Keyhole needs Node 22.15 or newer, and this is Node " +
      process.versions.node +
      ". Install a newer one and try again.",
  );
  process.exit(1);
}

function withoutCompiler(name) {
  require("node:v8").setFlagsFromString(`--no-${name}`);
}
