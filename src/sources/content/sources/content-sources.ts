import { createClickUpSource } from "./clickup-source.ts";
import { createDriveSource } from "./drive-source.ts";
import { createGitHubSource } from "./github-source.ts";
import { createLocalSource } from "./local-source.ts";
import { createPostgresSource } from "./postgres-source.ts";
import { createQaseSource } from "./qase-source.ts";

/**
 * Creates the built-in sources of documents for a pipeline. {@link contentFormats} parse what they fetch.
 *
 * @throws SOURCE_INVALID if a base URL is not a URL or a glob leaves its folder
 * @example
 * ```ts
 * import { defineDomain } from "keyhole";
 * import { contentFormats, contentSources } from "keyhole/sources";
 *
 * defineDomain({
 *   name: "handbook",
 *   description: "How we work.",
 *   extractors: [{ source: contentSources.local({ root: "docs" }), formats: [contentFormats.markdown()] }],
 * });
 * ```
 */
export const contentSources = {
  /** Files of a folder. */
  local: createLocalSource,
  /** Files, pull requests, issues or commits of a GitHub repository. */
  github: createGitHubSource,
  /** Documents, tasks or lists of ClickUp. */
  clickUp: createClickUpSource,
  /** Documents of a Google Drive folder. */
  drive: createDriveSource,
  /** Tables and views of a PostgreSQL or Redshift database: their columns and comments, never their rows. */
  postgres: createPostgresSource,
  /** Test suites of a Qase project. */
  qase: createQaseSource,
} as const;
