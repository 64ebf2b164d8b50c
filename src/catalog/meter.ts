/** Bounds the cost of one check of params, for any pair of schema and params. */
export interface Meter {
  /** Throws the meter, to leave the check, once the allowance is used up. */
  spend(work: number): void;
  /** False if a pattern would cost more than is left. It is then skipped. */
  allowsPattern(work: number): boolean;
  readonly patternsSkipped: boolean;
  reset(): void;
}

/** Each takes some 50 ms. */
const MAX_WORK = 500_000;
const MAX_PATTERN_WORK = 2_000_000;

/** Creates a meter with a full allowance. */
export function createMeter(): Meter {
  let workLeft = MAX_WORK;
  let patternWorkLeft = MAX_PATTERN_WORK;
  let patternsSkipped = false;
  const meter: Meter = {
    spend(work) {
      workLeft -= work;
      if (workLeft < 0) throw meter;
    },
    allowsPattern(work) {
      if (work > patternWorkLeft) {
        patternsSkipped = true;
        return false;
      }
      patternWorkLeft -= work;
      return true;
    },
    get patternsSkipped() {
      return patternsSkipped;
    },
    reset() {
      workLeft = MAX_WORK;
      patternWorkLeft = MAX_PATTERN_WORK;
      patternsSkipped = false;
    },
  };
  return meter;
}
