import { expect, onTestFinished, test, vi } from "vitest";
import { FIGURES_FOLDER, readFigures, reportFigure } from "./figures.ts";
import { temporaryFolder } from "./temporary-folder.ts";

test("every report of a figure is read back, also of the same figure", () => {
  const folder = temporaryFolder();
  vi.stubEnv(FIGURES_FOLDER, folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  reportFigure("leaks", 0, { of: 5000 });
  reportFigure("leaks", 2, { of: 10 });
  expect(readFigures(folder).sort((one, other) => one.value - other.value)).toEqual([
    { name: "leaks", value: 0, of: 5000 },
    { name: "leaks", value: 2, of: 10 },
  ]);
});
