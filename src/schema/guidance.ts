/** A next step: where to go, why, and with which params. */
export interface Guidance {
  readonly route: string;
  readonly prose: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** What a tool may return to unveil next steps with its content. */
export interface GuidedContent {
  readonly content: unknown;
  readonly guidance: readonly Guidance[];
}
