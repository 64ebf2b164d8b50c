/** Tokens of the next request, by cause. They add up to the total. */
export interface ContextReport {
  readonly parts: readonly { readonly name: string; readonly tokens: number }[];
  readonly total: number;
  /** Tokens that the model can take. */
  readonly window: number;
  /** Whether nobody has told the window of this model. */
  readonly assumed: boolean;
  /** The cost of listing every tool in each request. */
  readonly everything: number;
}
