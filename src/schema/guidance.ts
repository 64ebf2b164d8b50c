/** A next step: where to go, why, and with which params. */
export interface Guidance {
  readonly route: string;
  readonly prose: string;
  readonly params?: Readonly<Record<string, unknown>>;
}
