import { readFileSync } from "node:fs";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { isMeasuring } from "./is-measuring.ts";

/** Begins with the tests that repeat more while they measure: begun last, one of them would run long after the others. */
export class MeasuringFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    if (!isMeasuring()) return sorted;
    const measuring = new Set(
      sorted.filter(({ moduleId }) => readFileSync(moduleId, "utf8").includes("isMeasuring()")),
    );
    return [...measuring, ...sorted.filter((file) => !measuring.has(file))];
  }
}
