/** The caller, with its scopes. */
export interface Principal {
  readonly id: string;
  readonly scopes: readonly string[];
  /** Without it, tools of the write and destructive lanes run dry only. */
  readonly allowWrite: boolean;
  /** The profile that the caller is pinned to by its key or group. Faces refuse it everywhere else. */
  readonly profile?: string;
  /**
   * The principal that this caller looks as, with that one's scopes: it searches, and everything else runs dry. Stores
   * and sessions stay those of the caller.
   */
  readonly seesAs?: string;
}
