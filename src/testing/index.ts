export type { DescribeIndexOptions, TestRunner } from "./describe-index.ts";
export { describeIndex, INDEX_BEHAVIOURS } from "./describe-index.ts";
