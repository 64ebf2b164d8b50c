import { createGateway, defineDomain, defineTool } from "keyhole";
import { expect, test } from "vitest";

/** Names and descriptions as popular servers have them. */
const SERVERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  github: {
    add_issue_comment: "Add a comment to an existing issue",
    create_branch: "Create a new branch in a GitHub repository",
    create_issue: "Create a new issue in a GitHub repository",
    create_or_update_file: "Create or update a single file in a GitHub repository",
    create_pull_request: "Create a new pull request in a GitHub repository",
    create_pull_request_review: "Create a review on a pull request",
    create_repository: "Create a new GitHub repository in your account",
    fork_repository: "Fork a GitHub repository to your account or specified organization",
    get_file_contents: "Get the contents of a file or directory from a GitHub repository",
    get_issue: "Get details of a specific issue in a GitHub repository.",
    get_pull_request: "Get details of a specific pull request",
    get_pull_request_comments: "Get the review comments on a pull request",
    get_pull_request_files: "Get the list of files changed in a pull request",
    get_pull_request_reviews: "Get the reviews on a pull request",
    get_pull_request_status: "Get the combined status of all status checks for a pull request",
    list_commits: "Get list of commits of a branch in a GitHub repository",
    list_issues: "List issues in a GitHub repository with filtering options",
    list_pull_requests: "List and filter repository pull requests",
    merge_pull_request: "Merge a pull request",
    push_files: "Push multiple files to a GitHub repository in a single commit",
    search_code: "Search for code across GitHub repositories",
    search_issues: "Search for issues and pull requests across GitHub repositories",
    search_repositories: "Search for GitHub repositories",
    search_users: "Search for users on GitHub",
    update_issue: "Update an existing issue in a GitHub repository",
    update_pull_request_branch: "Update a pull request branch with the latest changes from the base branch",
  },
  filesystem: {
    create_directory:
      "Create a new directory or ensure a directory exists. Can create multiple nested directories in one operation.",
    directory_tree: "Get a recursive tree view of files and directories as a JSON structure.",
    edit_file:
      "Make line-based edits to a text file. Each edit replaces exact line sequences with new content.",
    get_file_info: "Retrieve detailed metadata about a file or directory.",
    list_allowed_directories: "Returns the list of directories that this server is allowed to access.",
    list_directory: "Get a detailed listing of all files and directories in a specified path.",
    move_file:
      "Move or rename files and directories. Can move files between directories and rename them in a single operation.",
    read_media_file: "Read an image or audio file. Returns the base64 encoded data and MIME type.",
    read_multiple_files: "Read the contents of multiple files simultaneously.",
    read_text_file: "Read the complete contents of a file from the file system as text.",
    search_files:
      "Recursively search for files and directories matching a pattern. Returns full paths to all matching items. Great for finding files when you don't know their exact location.",
    write_file: "Create a new file or completely overwrite an existing file with new content.",
  },
  playwright: {
    browser_click: "Perform click on a web page",
    browser_close: "Close the page",
    browser_console_messages: "Returns all console messages",
    browser_drag: "Perform drag and drop between two elements",
    browser_evaluate: "Evaluate JavaScript expression on page or element",
    browser_file_upload: "Upload one or multiple files",
    browser_fill_form: "Fill multiple form fields",
    browser_find: "Find text on the page and return the elements that contain it",
    browser_handle_dialog: "Handle a dialog",
    browser_hover: "Hover over element on page",
    browser_navigate: "Navigate to a URL",
    browser_navigate_back: "Go back to the previous page in the history",
    browser_network_requests: "Returns all network requests since loading the page",
    browser_press_key: "Press a key on the keyboard",
    browser_select_option: "Select an option in a dropdown",
    browser_snapshot: "Capture accessibility snapshot of the current page, this is better than screenshot",
    browser_tabs: "List, create, close, or select a browser tab.",
    browser_take_screenshot:
      "Take a screenshot of the current page. You can't perform actions based on the screenshot, use browser_snapshot for actions.",
    browser_type: "Type text into editable element",
    browser_wait_for: "Wait for text to appear or disappear or a specified time to pass",
  },
  notion: {
    "API-create-a-comment": "Notion | Create comment",
    "API-create-a-database": "Notion | Create a database",
    "API-delete-a-block": "Notion | Delete a block",
    "API-get-block-children": "Notion | Retrieve block children",
    "API-get-users": "Notion | List all users",
    "API-patch-block-children": "Notion | Append block children",
    "API-patch-page": "Notion | Update page properties",
    "API-post-database-query": "Notion | Query a database",
    "API-post-page": "Notion | Create a page",
    "API-post-search": "Notion | Search by title",
    "API-retrieve-a-comment": "Notion | Retrieve comments",
    "API-retrieve-a-database": "Notion | Retrieve a database",
    "API-retrieve-a-page": "Notion | Retrieve a page",
    "API-update-a-block": "Notion | Update a block",
  },
  memory: {
    add_observations: "Add new observations to existing entities in the knowledge graph",
    create_entities: "Create multiple new entities in the knowledge graph",
    create_relations:
      "Create multiple new relations between entities in the knowledge graph. Relations should be in active voice",
    delete_entities: "Delete multiple entities and their associated relations from the knowledge graph",
    open_nodes: "Open specific nodes in the knowledge graph by their names",
    read_graph: "Read the entire knowledge graph",
    search_nodes: "Search for nodes in the knowledge graph based on a query",
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
  ["find a file by name", "search_files"],
  ["go to google.com", "browser_navigate"],
  ["open https://example.com/docs", "browser_navigate"],
  ["visit a website", "browser_navigate"],
  ["add a page to my notion workspace", "API-post-page"],
  ["new page in notion", "API-post-page"],
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

test.each([
  ["erstelle einen Pull Request", "create_pull_request"],
  ["öffne einen Pull Request", "create_pull_request"],
  ["crée une pull request", "create_pull_request"],
  ["crea una pull request", "create_pull_request"],
  ["crie um pull request", "create_pull_request"],
  ["maak een pull request", "create_pull_request"],
  ["maak een map", "create_directory"],
  ["создай файл", "write_file"],
  ["utwórz katalog", "create_directory"],
  ["supprime le bloc", "API-delete-a-block"],
  ["cherche un fichier", "search_files"],
])("%s, in another language, shows %s first", async (query, name) => {
  expect((await namesFor(query))[0]).toBe(name);
});

test.each([
  "merke dir dass Bob Tee mag",
  "souviens-toi que Bob aime le thé",
  "recuerda que a Bob le gusta el té",
])("%s is for the memory, and no misspelling of another need", async (query) => {
  const { hits } = await gateway.ask({ query });
  expect(hits.slice(0, 3).map(({ domain }) => domain)).toEqual(["memory", "memory", "memory"]);
  expect(hits.map(({ name }) => name)).not.toContain("merge_pull_request");
});

test("other domains get no place for hits that do not stand out", async () => {
  const { hits } = await gateway.ask({ query: "submit a PR for this branch" });
  expect(hits.length).toBeGreaterThan(7);
  expect(new Set(hits.map(({ domain }) => domain))).toEqual(new Set(["github"]));
});
