const STEPS = 5;
/** Doubt that a few observations have to overcome. */
const DOUBT = 4;
/** Old observations fade: after about five hundred newer ones they no longer count. */
const FADING = 0.995;

/**
 * How often past use was right where search was wrong, by how certain it was. Every use is first predicted
 * from the uses before it, so the figures hold for queries that were never seen.
 */
export class Reliability {
  private readonly right = new Float64Array(STEPS);
  private readonly wrong = new Float64Array(STEPS);

  /** Notes one prediction. It teaches only where past use and search disagreed and one of them was right. */
  observe(certainty: number, useWasRight: boolean, searchWasRight: boolean): void {
    if (useWasRight === searchWasRight) return;
    const step = stepOf(certainty);
    this.right[step]! *= FADING;
    this.wrong[step]! *= FADING;
    if (useWasRight) this.right[step]!++;
    else this.wrong[step]!++;
  }

  /** 0 while search is right as often, towards 1 the more often past use is right alone. */
  trust(certainty: number): number {
    const step = stepOf(certainty);
    const right = this.right[step]!;
    const wrong = this.wrong[step]!;
    return Math.max(0, (right - wrong) / (right + wrong + DOUBT));
  }
}

function stepOf(certainty: number): number {
  return Math.min(STEPS - 1, Math.floor(certainty * STEPS));
}
