import { createGateway, defineDomain, defineTool } from "keyhole";
import { expect, test } from "vitest";

/** Names and descriptions as popular servers have them. */
const SERVERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  github: {
    create_issue: "Create a new issue in a GitHub repository",
    create_pull_request: "Create a new pull request in a GitHub repository",
    create_pull_request_review: "Create a review on a pull request",
    fork_repository: "Fork a GitHub repository to your account or specified organization",
    get_pull_request: "Get details of a specific pull request",
    get_pull_request_comments: "Get the review comments on a pull request",
    get_pull_request_files: "Get the list of files changed in a pull request",
    get_pull_request_reviews: "Get the reviews on a pull request",
    get_pull_request_status: "Get the combined status of all status checks for a pull request",
    list_issues: "List issues in a GitHub repository with filtering options",
    list_pull_requests: "List and filter repository pull requests",
    merge_pull_request: "Merge a pull request",
    update_pull_request_branch: "Update a pull request branch with the latest changes from the base branch",
  },
  filesystem: {
    create_directory: "Create a new directory or ensure a directory exists.",
    list_directory: "Get a detailed listing of all files and directories in a specified path.",
    move_file: "Move or rename files and directories.",
    read_text_file: "Read the complete contents of a file from the file system as text.",
    write_file: "Create a new file or completely overwrite an existing file with new content.",
  },
  memory: {
    add_observations: "Add new observations to existing entities in the knowledge graph",
    create_entities: "Create multiple new entities in the knowledge graph",
    read_graph: "Read the entire knowledge graph",
  },
  notes: {
    create_comment: "Create a comment on a page",
    create_page: "Create a page in a workspace",
    move_page: "Move a page to another parent",
  },
};

const gateway = createGateway({
  domains: Object.entries(SERVERS).map(([name, tools]) =>
    defineDomain({
      name,
      description: name,
      tools: Object.entries(tools).map(([tool, description]) =>
        defineTool({ name: tool, description, execute: () => tool }),
      ),
    }),
  ),
  learning: false,
});

const namesFor = async (query: string) => (await gateway.ask({ query })).hits.map(({ name }) => name);

test.each([
  ["open a pull request", "create_pull_request"],
  ["raise a PR", "create_pull_request"],
  ["merge the PR", "merge_pull_request"],
  ["list PRs", "list_pull_requests"],
  ["fork this repo", "fork_repository"],
  ["file a bug", "create_issue"],
])("%s shows %s alone", async (query, name) => {
  expect(await namesFor(query)).toEqual([name]);
});

test.each([
  ["rename a file", "move_file"],
  ["make a new folder", "create_directory"],
])("%s shows %s first", async (query, name) => {
  expect((await namesFor(query))[0]).toBe(name);
});

test("pull requests that are open are not to be opened", async () => {
  expect(await namesFor("open PRs")).toContain("list_pull_requests");
});

test("things to remember are for the memory", async () => {
  const { hits } = await gateway.ask({ query: "remember that Bob likes tea" });
  expect(hits[0]?.domain).toBe("memory");
});

test("other domains get no place for hits that do not stand out", async () => {
  const { hits } = await gateway.ask({ query: "submit a PR for this branch" });
  expect(hits.length).toBeGreaterThan(7);
  expect(new Set(hits.map(({ domain }) => domain))).toEqual(new Set(["github"]));
});
