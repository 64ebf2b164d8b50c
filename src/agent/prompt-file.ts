/** A file that goes with a prompt. */
export interface PromptFile {
  /** Such as `image/png`. */
  readonly mediaType: string;
  /** Base64. */
  readonly data: string;
}
