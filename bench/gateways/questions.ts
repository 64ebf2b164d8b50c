/** Questions as people ask them, with the tools that answer them. Names are unique among the five servers. */
export const QUESTIONS: readonly (readonly [question: string, ...tools: string[]])[] = [
  ["add two numbers", "get-sum"],
  ["show me which variables the process was started with", "get-env"],
  ["say the same thing back to me", "echo"],
  ["compress a document to save space", "gzip-file-as-resource"],
  ["give me a small picture", "get-tiny-image"],
  ["start a job that takes a while and watch how far it is", "trigger-long-running-operation"],
  ["do deep research on a topic", "simulate-research-query"],
  ["turn the log messages off", "toggle-simulated-logging"],
  ["read a text file", "read_text_file", "read_file"],
  ["what does the config on my disk say", "read_text_file", "read_file"],
  ["open an image from disk", "read_media_file"],
  ["load several files at once", "read_multiple_files"],
  ["save this text to disk", "write_file"],
  ["replace a line in a file", "edit_file"],
  ["make a new folder", "create_directory"],
  ["what is in this folder", "list_directory", "list_directory_with_sizes", "directory_tree"],
  ["which files in the folder are the biggest", "list_directory_with_sizes"],
  ["show the folder and everything below it as a tree", "directory_tree"],
  ["rename a file", "move_file"],
  ["find all files whose name ends in .md", "search_files"],
  ["when was this file last changed", "get_file_info"],
  ["which folders may I use", "list_allowed_directories"],
  ["remember that Ann works at Acme", "create_entities", "add_observations", "create_relations"],
  ["note a new fact about someone you know", "add_observations"],
  ["forget everything about Bob", "delete_entities"],
  ["how are Ann and Acme connected", "search_nodes", "open_nodes", "read_graph"],
  ["tell me all you remember", "read_graph"],
  ["think through a hard problem step by step", "sequentialthinking"],
  ["break a complex problem into parts and revise the plan", "sequentialthinking"],
  ["file a bug report", "create_issue"],
  ["which bugs are open in the repo", "list_issues", "search_issues"],
  ["reply to a ticket", "add_issue_comment"],
  ["close the ticket", "update_issue"],
  ["propose my changes for review", "create_pull_request"],
  ["merge the PR", "merge_pull_request"],
  ["did the checks of the pull request pass", "get_pull_request_status"],
  ["what files does the PR touch", "get_pull_request_files"],
  ["approve a pull request", "create_pull_request_review"],
  ["what was committed lately", "list_commits"],
  ["find code that uses this function across repositories", "search_code"],
  ["start a new branch", "create_branch"],
  ["copy somebody's repository to my account", "fork_repository"],
  ["look for a developer by name", "search_users"],
  ["upload several files in one commit", "push_files"],
  ["bring the branch of the pull request up to date", "update_pull_request_branch"],
];

/** Some systems put the name of the server before that of the tool. */
const PREFIX = "(?:everything|files|memory|thinking|github)_{1,2}";

/** The tools of an answer in the order in which it names them. */
export function rankedTools(answer: string, known: readonly string[]): string[] {
  return known
    .map((name) => ({ name, at: answer.search(new RegExp(`(?<![\\w-])(?:${PREFIX})?${name}(?![\\w-])`)) }))
    .filter(({ at }) => at >= 0)
    .sort((one, other) => one.at - other.at)
    .map(({ name }) => name);
}

/** The share of the questions whose first five tools have a right one. */
export async function recallAtFive(
  known: readonly string[],
  search: (question: string) => Promise<string>,
): Promise<number> {
  let found = 0;
  for (const [question, ...right] of QUESTIONS) {
    const shown = rankedTools(await search(question), known).slice(0, 5);
    if (right.some((name) => shown.includes(name))) found += 1;
  }
  return found / QUESTIONS.length;
}
