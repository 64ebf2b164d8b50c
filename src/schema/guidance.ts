/** A next step: where to go, why, and with which params. */
export interface Guidance {
  readonly route: string;
  readonly prose: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** A tool's result together with the next steps that it unveils. */
export interface GuidedContent {
  readonly content: unknown;
  readonly guidance: readonly Guidance[];
}
