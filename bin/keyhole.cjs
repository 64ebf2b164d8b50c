#!/usr/bin/env node
// Any Node can parse this file. It tells an old one what is needed, before newer syntax stops it.
var found = process.versions.node.split(".").map(Number);
if (found[0] > 22 || (found[0] === 22 && found[1] >= 15)) {
  require("./start.cjs");
} else {
  console.error(
    "Keyhole needs Node 22.15 or newer, and this is Node " +
      process.versions.node +
      ". Install a newer one and try again.",
  );
  process.exit(1);
}
