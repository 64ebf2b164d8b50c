#!/usr/bin/env node
// Any Node since version 4 can parse this file. It says which Node is needed, before newer syntax stops an old one.
var version = process.versions.node.split(".").map(Number);
if (version[0] > 22 || (version[0] === 22 && version[1] >= 15)) {
  require("./start.cjs");
} else {
  console.error(
    "Keyhole needs Node 22.15 or newer, and this is Node " +
      process.versions.node +
      ". Install a newer one and try again.",
  );
  process.exit(1);
}
