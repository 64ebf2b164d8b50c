/** The variable that `npm run verify` sets. */
export const MEASURING = "KEYHOLE_MEASURING";

/** Whether tests repeat as often as `npm run verify` needs. Other runs repeat as often as people want to wait. */
export function isMeasuring(): boolean {
  return process.env[MEASURING] !== undefined;
}
