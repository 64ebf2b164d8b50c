import type { Lane } from "../src/core/nouns/entry.ts";

/**
 * What each tool of eight public servers really does, written by hand from their names and descriptions. `destructive`: what
 * was there before is gone or overwritten, or code of the caller runs. A pointer that only moves changes a page, and a
 * click may do anything a page offers; both write.
 */
const EFFECTS: Readonly<Record<string, Readonly<Record<Lane, string>>>> = {
  filesystem: {
    read: `read_file read_text_file read_media_file read_multiple_files list_directory list_directory_with_sizes
      directory_tree search_files get_file_info list_allowed_directories`,
    write: "create_directory",
    destructive: "write_file edit_file move_file",
  },
  memory: {
    read: "read_graph search_nodes open_nodes",
    write: "create_entities create_relations add_observations",
    destructive: "delete_entities delete_observations delete_relations",
  },
  everything: {
    read: `echo get-annotated-message get-env get-resource-links get-resource-reference get-structured-content get-sum
      get-tiny-image trigger-long-running-operation simulate-research-query`,
    write: "gzip-file-as-resource toggle-simulated-logging toggle-subscriber-updates",
    destructive: "",
  },
  "sequential-thinking": { read: "sequentialthinking", write: "", destructive: "" },
  github: {
    read: `search_repositories get_file_contents list_commits list_issues search_code search_issues search_users get_issue
      get_pull_request list_pull_requests get_pull_request_files get_pull_request_status get_pull_request_comments
      get_pull_request_reviews`,
    write: `create_repository create_issue create_pull_request fork_repository create_branch update_issue
      add_issue_comment create_pull_request_review update_pull_request_branch push_files create_or_update_file`,
    destructive: "merge_pull_request",
  },
  notion: {
    read: `API-get-user API-get-users API-get-self API-post-search API-get-block-children API-retrieve-a-block
      API-retrieve-a-page API-retrieve-a-page-property API-retrieve-a-comment API-query-data-source
      API-retrieve-a-data-source API-list-data-source-templates API-retrieve-a-database API-retrieve-page-markdown`,
    write: `API-patch-block-children API-update-a-block API-patch-page API-post-page API-create-a-comment
      API-update-a-data-source API-create-a-data-source API-move-page`,
    destructive: "API-delete-a-block API-update-page-markdown",
  },
  playwright: {
    read: `browser_console_messages browser_find browser_network_requests browser_network_request
      browser_take_screenshot browser_snapshot browser_wait_for`,
    write: `browser_close browser_resize browser_handle_dialog browser_emulate_media browser_file_upload browser_drop
      browser_fill_form browser_press_key browser_type browser_navigate browser_navigate_back browser_click browser_drag
      browser_hover browser_select_option browser_tabs`,
    destructive: "browser_evaluate browser_run_code_unsafe",
  },
  "chrome-devtools": {
    read: `get_console_message get_css_styles get_network_request list_console_messages list_network_requests list_pages
      performance_analyze_insight select_page take_screenshot take_snapshot wait_for`,
    write: `click close_page drag emulate fill fill_form handle_dialog hover lighthouse_audit navigate_page new_page
      performance_start_trace performance_stop_trace press_key resize_page screencast_start screencast_stop
      take_heapsnapshot type_text upload_file`,
    destructive: "evaluate_script",
  },
};

/** The real effect of a tool; undefined for one that the list lacks. */
export function realLane(server: string, tool: string): Lane | undefined {
  const effects = Object.entries(EFFECTS[server] ?? {}) as [Lane, string][];
  return effects.find(([, names]) => names.split(/\s+/).includes(tool))?.[0];
}
