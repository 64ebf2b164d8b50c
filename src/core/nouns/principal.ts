/** The caller, with its scopes. */
export interface Principal {
  readonly id: string;
  readonly scopes: readonly string[];
  /** Without it, tools of the write and destructive lanes only run dry. */
  readonly allowWrite: boolean;
  /** The only profile that the caller may use, by its key or group. */
  readonly profile?: string;
  /**
   * The principal that this caller looks as, with that principal's scopes: searches work, everything else runs dry.
   * Stores and sessions stay the caller's own.
   */
  readonly seesAs?: string;
}
