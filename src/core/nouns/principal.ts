/** The caller, with its scopes. */
export interface Principal {
  readonly id: string;
  readonly scopes: readonly string[];
  /** Without it, tools of the write and destructive lanes run dry only. */
  readonly allowWrite: boolean;
}
