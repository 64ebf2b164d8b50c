// Some versions of Node call their own SQLite an experiment. Users can do nothing about it, so they are not told.
const emitWarning = process.emitWarning;
process.emitWarning = (warning, ...rest) => {
  if (!String(warning).startsWith("SQLite is an experimental feature"))
    emitWarning.call(process, warning, ...rest);
};
import("../cli/main.js");
