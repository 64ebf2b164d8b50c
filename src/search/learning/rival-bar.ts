/** Share of right entries that past use of others may push from their places, had they never been used. */
const ERROR_SHARE = 0.01;
/** Leads move with the weights and the number of examples, so only the newest count. */
const KEPT = 256;

/**
 * The lead that a used entry needs over one that was never used. Every use is first judged as if its entry had
 * never been used: the lead that others would have had over it then is one they have where it is right. The bar is
 * above all but one in a hundred of these leads, and out of reach until there are a hundred.
 */
export class RivalBar {
  private readonly leads: number[] = [];
  private bar: number | undefined;

  observe(lead: number): void {
    this.leads.push(lead);
    if (this.leads.length > KEPT) this.leads.shift();
    this.bar = undefined;
  }

  get value(): number {
    const allowed = Math.floor(ERROR_SHARE * (this.leads.length + 1));
    if (allowed === 0) return Number.POSITIVE_INFINITY;
    // Below zero, the bar would lower entries that were never used.
    this.bar ??= Math.max(0, this.leads.toSorted((one, other) => other - one)[allowed - 1]!);
    return this.bar;
  }
}
