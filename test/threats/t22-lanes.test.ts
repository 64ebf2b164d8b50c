// Reading has to be earned: a tool of a server reads only if it says so and no word of it writes, or by a person's word.
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createGateway, createPins } from "keyhole";
import { expect, onTestFinished, test } from "vitest";
import { impliedLane, laneOfTool } from "../../src/core/catalog/tool-lane.ts";
import { createMcpSource } from "../../src/sources/mcp/mcp-source.ts";
import { createOpenApiSource } from "../../src/sources/openapi/openapi-source.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { tmuxMissing } from "../tmux.ts";
import { eventually, gatewayOf, PATIENT } from "../upstream-kit.ts";
import { agree, openProgram, type Program } from "./program.ts";

type Properties = Readonly<Record<string, object>>;

const UPSTREAM = resolve("test/threats/defined-upstream.ts");
const READS = { readOnlyHint: true };

function definition(name: string, annotations?: object, properties: Properties = {}) {
  const inputSchema = { type: "object", properties };
  return { name, description: "Works with things.", inputSchema, ...(annotations && { annotations }) };
}

/** Tools that say nothing about themselves, and names that sound harmless. */
const UNANNOTATED = `get_and_delete_mail list_drop_table query resolve_incident search_and_replace run_sql
  fetch_and_forward export_to_bucket check_out_branch get_page list_users search track_parcel download_all visit_page
  browse_and_buy scan_and_fix verify_account find_or_create_user read_write_file show_and_hide view_then_archive
  count_down_and_shutdown lookup_or_insert describe_and_drop inspect_and_patch compare_and_swap preview_and_send
  monitor_and_restart`.split(/\s+/);

/** Names of tools that change something, of all kinds. */
const CHANGING =
  `purgeQueue archive_thread mail_wipe getAndSetFlag truncate-logs user.remove dropDatabase cms_deletePage
  fetchAndMerge list_and_revoke_tokens force_push reset_password set_temperature send_invoice transfer_funds
  approve_expense cancel_subscription rename_branch move_card upload_avatar publish_post deploy_service restart_pod
  kill_process terminate_instance uninstall_package clear_cache overwrite_cell prune_images revoke_key unlink_account
  enable_feature disable_user toggle_light append_row insert_record upsert_contact modify_group replace_text run_workflow
  execute_plan invoke_lambda trigger_build start_vm stop_vm pay_bill buy_ticket book_room order_pizza sign_contract
  grant_role assign_ticket reply_to_thread comment_on_pr add_member create_issue write_file edit_page commit_changes
  merge_branches getanddeletemail RemoveAllUsers check_in_luggage roll_back_release`.split(/\s+/);

/** Sixty more, as servers name tools that sound like reading and change something. */
const TRAPS =
  `get_and_delete fetch_or_create read_and_clear list_and_archive search_then_tag pop_message dequeue_job
  consume_event drain_queue take_snapshot_and_restore claim_next_task checkout_file ack_message mark_as_read
  get_or_insert_default find_and_modify find_one_and_update findOneAndDelete scan_and_quarantine read_once
  view_and_dismiss lookup_and_block preview_and_publish validate_and_submit verify_and_activate check_and_repair
  inspect_and_kill describe_and_terminate export_and_purge download_and_install fetch_and_execute load_and_run
  get_token_and_rotate show_and_pin query_and_update dump_and_truncate peek_and_remove count_and_reset
  compare_and_set test_and_set read_modify_write select_into listen_and_reply watch_and_restart poll_and_commit
  sync_calendar refresh_and_store warm_cache_and_evict analyze_and_fix detect_and_block estimate_and_book
  recommend_and_order summarize_and_email retrieveAndForward lookupOrRegister get_consent_and_sign
  list_unsubscribe trace_and_patch diff_and_apply preview_merge_and_close`.split(/\s+/);

test("T22: of sixty names that sound like reading and change something, none reads", () => {
  expect(new Set(TRAPS).size).toBe(60);
  expect(TRAPS.filter((name) => laneOfTool(definition(name, READS)) === "read")).toEqual([]);
  expect(TRAPS.filter((name) => impliedLane(definition(name)) === "read")).toEqual([]);
  expect(TRAPS.filter((name) => laneOfTool(definition(name)) === "read")).toEqual([]);
});

/** Sixty more: verbs of all trades, words without a space, prefixes, accents, letters of another script. */
const MORE_TRAPS =
  `get_and_unset_flag list_and_label_issues search_and_star recalculate_totals refresh_token renew_lease acquire_lock
  allocate_ip reserve_seat hand_over_ticket fetch_then_hide report_user warn_user kick_member promote_release
  scale_deployment resize_volume cordon_node evacuate_host switch_branch squash_commits cherry_pick bump_version
  backfill_table vacuum_table chmod_path symlink_file call_number ensure_bucket_exists hydrate_cache invalidate_cache
  expire_session log_event clock_in bookmark_page upvote_answer review_pull_request request_review onboard_user
  transition_issue settle_invoice get_next_and_lease show_and_unshare get_and_increment find_and_redact empty_trash
  throw_away_draft get_rid_of_file spawn_agent requeue_job rerun_pipeline reassign_task manage_users createissue
  sendmail sends_mail crée_create_issue ｓｅｎｄ_mail s\u0435nd_mail se\u00adnd_mail`.split(/\s+/);

test("T22: of sixty more names of all trades and spellings, none reads", () => {
  expect(new Set(MORE_TRAPS).size).toBe(60);
  expect(MORE_TRAPS.filter((name) => laneOfTool(definition(name, READS)) === "read")).toEqual([]);
  expect(MORE_TRAPS.filter((name) => impliedLane(definition(name)) === "read")).toEqual([]);
  const gone = ["empty_trash", "throw_away_draft", "get_rid_of_file", "cleanup_images", "decommission_host"];
  expect(gone.filter((name) => laneOfTool(definition(name)) !== "destructive")).toEqual([]);
});

/** Names of tools that read, with nouns that are verbs elsewhere. */
const READING =
  `list_merge_requests get_run search_orders API-post-search get_pull_request_comments list_commits
  get_order get_post read_comment list_tags get_link track_parcel query_logs list_open_issues get_build_status
  list_deleted_files get_update_history search_archive get_store_hours list_change_log get_import_status
  get_release_notes count_clicks find_copy get_format get_transfer_fees describe_trigger list_processes
  get_terms_and_conditions fetch_share_price get_password_reset_policy open_nodes horizon directory_tree log_entries rate_limits index_stats
  label_search get_deployments deployments updates creator list_backup get_refresh_token report_summary review_history
  release_notes find_duplicate cache_stats snapshot request_log get_price_and_volume read_call_log`.split(
    /\s+/,
  );

test("T22: no tool reads by its name alone, however harmless the name", () => {
  expect(UNANNOTATED).toHaveLength(29);
  const reading = [...UNANNOTATED, ...CHANGING, ...READING].filter((name) => {
    const silent = [definition(name), definition(name, {}), definition(name, { destructiveHint: false })];
    return silent.some((tool) => laneOfTool(tool) === "read");
  });
  expect(reading).toEqual([]);
});

test("T22: a hint to read counts for no tool whose name changes something, in any place and spelling", () => {
  expect(CHANGING.length).toBeGreaterThanOrEqual(60);
  const reading = CHANGING.filter((name) => laneOfTool(definition(name, READS)) === "read");
  expect(reading).toEqual([]);
  const destroying =
    `get_and_delete_mail list_drop_table describe_and_drop fetchAndMerge list_and_revoke_tokens mail_wipe
    truncate-logs user.remove cms_deletePage force_push reset_password getanddeletemail`.split(/\s+/);
  expect(destroying.filter((name) => laneOfTool(definition(name, READS)) !== "destructive")).toEqual([]);
});

test("T22: a hint to read counts for tools that read, also with nouns that are verbs elsewhere", () => {
  const others = READING.filter((name) => laneOfTool(definition(name, READS)) !== "read");
  expect(others).toEqual([]);
});

const TEXT = { type: "string" };
const SWITCH = { type: "boolean" };

test.each<[string, Properties, string]>([
  ["an action that deletes", { action: { enum: ["list", "delete"] } }, "destructive"],
  ["an HTTP method", { method: { type: "string", enum: ["GET", "POST"] } }, "write"],
  ["a choice by const", { operation: { anyOf: [{ const: "read" }, { const: "purge" }] } }, "destructive"],
  ["choices in a list", { steps: { type: "array", items: { enum: ["look", "remove"] } } }, "destructive"],
  ["a nested action", { job: { type: "object", properties: { action: { enum: ["drop"] } } } }, "destructive"],
  ["a free action", { action: TEXT }, "write"],
  ["a free action that may be null", { action: { anyOf: [TEXT, { type: "null" }] } }, "write"],
  ["a statement", { sql: TEXT }, "write"],
  ["a statement by another name", { sqlQuery: TEXT }, "write"],
  ["a command", { command: TEXT }, "write"],
  ["a shell command", { shell_command: TEXT }, "write"],
  ["a script", { script: TEXT }, "write"],
  ["force", { force: SWITCH }, "destructive"],
  ["overwrite", { overwrite: SWITCH }, "destructive"],
  ["a switch that deletes", { delete_after: SWITCH, and_delete_source: SWITCH }, "destructive"],
  ["a dry run", { dryRun: SWITCH }, "write"],
  ["a choice of an intent", { user_intent: { enum: ["view", "modify"] } }, "write"],
  ["a choice of an action's type", { action_type: { enum: ["show", "create"] } }, "write"],
  ["a query that writes", { cypher: TEXT }, "write"],
  ["a value to send", { send_to: TEXT }, "write"],
  [
    "a deep schema",
    { a: { properties: { b: { items: { properties: { purge: SWITCH } } } } } },
    "destructive",
  ],
])("T22: an argument can take reading away: %s", (_, properties, lane) => {
  expect(laneOfTool(definition("get_things", READS, properties))).toBe(lane);
});

test("T22: usual arguments of searches leave them reading", () => {
  const properties = {
    ...{ query: TEXT, order: { enum: ["asc", "desc"] }, state: { enum: ["open", "closed", "merged"] } },
    ...{ action: { enum: ["list", "get"] }, format: { enum: ["json", "text"] }, include_deleted: SWITCH },
    ...{
      update_time: TEXT,
      created_after: TEXT,
      post_id: TEXT,
      tag: TEXT,
      start: TEXT,
      force_refresh: SWITCH,
    },
    ...{ type: { enum: ["comment", "post", "push"] }, sort: { enum: ["created", "updated"] } },
  };
  expect(laneOfTool(definition("search_things", READS, properties))).toBe("read");
});

test("T22: a schema that is too large to be read whole does not count as reading", () => {
  const many = Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => [`p${at}`, TEXT]));
  expect(laneOfTool(definition("get_things", READS, many))).toBe("write");
});

/** A program with one server of these tools, which has been approved to start. */
async function served(tools: readonly object[]) {
  const program = openProgram();
  const file = program.write("tools.json", tools);
  const server = { command: process.execPath, args: [UPSTREAM, file] };
  const config = program.write("mcp.json", { mcpServers: { up: server } });
  await agree(program, "up", "--config", config);
  return { ...program, config };
}

type Served = Program & { readonly config: string };

async function lanes({ keyhole, config }: Served, ...more: string[]): Promise<Record<string, string>> {
  const { out } = await keyhole("approve", "--json", "--config", config, ...more);
  const [{ definitions }] = JSON.parse(out) as [{ definitions: { name: string; effect: string }[] }];
  return Object.fromEntries(definitions.map(({ name, effect }) => [name, effect]));
}

async function gets({ serve, config }: Served, names: readonly string[]): Promise<string[]> {
  const call = await serve("--config", config);
  await eventually(async () => expect(await call("ask", { query: "things" })).not.toContain("starting"));
  const answers = names.map(async (name) => {
    const text = await call("get", { routes: [{ route: `up://tools/${name}` }] });
    return text.includes(`ran ${name}`) ? "ran" : "refused";
  });
  return Promise.all(answers);
}

test("T22: over stdio, get runs nothing that has not earned reading for a caller who may not write", async () => {
  const program = await served([
    ...UNANNOTATED.map((name) => definition(name)),
    definition("read_it", READS),
  ]);
  await agree(program, "up", "--config", program.config);
  expect(new Set(await gets(program, UNANNOTATED))).toEqual(new Set(["refused"]));
  expect(await gets(program, ["read_it"])).toEqual(["ran"]);
});

test("T22: a person's mark counts for exactly the definition that was shown, and ends when it changes", async () => {
  const silent = [definition("get_page"), definition("update_page"), definition("query")];
  const program = await served(silent);
  const marked = await agree(program, "up", "--reads", "--config", program.config);
  expect(marked.out).toMatch(/get_page +reads, by you/);
  expect(marked.out).toMatch(/update_page +writes /);
  expect(await gets(program, ["get_page", "update_page", "query"])).toEqual(["ran", "refused", "refused"]);
  await agree(program, "up.query", "--reads", "--config", program.config);
  expect(await gets(program, ["query"])).toEqual(["ran"]);

  program.write(
    "tools.json",
    silent.map((tool) => ({ ...tool, description: "Works with other things." })),
  );
  await agree(program, "up", "--refresh", "--config", program.config);
  expect(await lanes(program)).toEqual({ get_page: "writes", update_page: "writes", query: "writes" });
  expect(await gets(program, ["get_page", "query"])).toEqual(["refused", "refused"]);
});

test("T22: approvals, marks and their end by another process count for the very next call", async () => {
  const path = join(temporaryFolder(), "approvals.db");
  const file = join(temporaryFolder(), "tools.json");
  writeFileSync(file, JSON.stringify([definition("get_page")]));
  const open = () => {
    const server = { command: process.execPath, args: [UPSTREAM, file] };
    const source = createMcpSource("up", server, { trusted: false, limits: PATIENT });
    return gatewayOf([source], { pins: createPins({ path }) });
  };
  const [running, person] = [open(), open()];
  onTestFinished(async () => void (await Promise.all([running.close(), person.close()])));
  await Promise.all([running.ready(), person.ready()]);
  const page = { route: "up://tools/get_page" };
  const reading = async () => JSON.stringify(await running.get({ routes: [page] })).includes("ran get_page");
  for (let round = 0; round < 5; round += 1) {
    expect(await reading()).toBe(false);
    const pins = person.pins.list().map((pin) => ({ ...pin, lane: "read" as const }));
    await person.pins.approve({ pins });
    expect(await reading()).toBe(true);
    await person.pins.revoke("all");
  }
});

test("T22: marking needs the hash of what was shown with the mark, and is taken back with the approval", async () => {
  const program = await served([definition("get_page")]);
  const args = ["up.get_page", "--config", program.config];
  const plain = /Hash: (\S+)/.exec((await program.keyhole("approve", ...args)).out)?.[1] ?? "";
  const refused = await program.keyhole("approve", ...args, "--reads", "--hash", plain);
  expect(refused).toMatchObject({ code: 1 });
  await agree(program, ...args, "--reads");
  expect(await lanes(program)).toEqual({ get_page: "reads" });
  await program.keyhole("approve", "--revoke", ...args);
  expect(await lanes(program)).toEqual({ get_page: "writes" });
});

test("T22: tools of a large server are judged and marked as those of a small one", async () => {
  const many = Array.from({ length: 70 }, (_, at) => definition(`get_page_${at}`));
  const large = [...many, definition("delete_page", READS), definition("read_page", READS)];
  const program = await served(large);
  await agree(program, "up.get_page_3", "--reads", "--config", program.config);
  await agree(program, "up", "--config", program.config);
  const names = ["get_page_3", "get_page_4", "delete_page", "read_page"];
  expect(await gets(program, names)).toEqual(["ran", "refused", "refused", "ran"]);
});

test("T22: a lane of the config is not changed by a mark", async () => {
  const program = openProgram();
  const file = program.write("tools.json", [definition("get_page"), definition("get_post")]);
  const server = { command: process.execPath, args: [UPSTREAM, file] };
  const overrides = { up: { tools: { get_page: { lane: "destructive" } } } };
  const config = program.write("mcp.json", { mcpServers: { up: server }, overrides });
  await agree(program, "up", "--config", config);
  await agree(program, "up.get_page", "up.get_post", "--reads", "--config", config);
  expect(await lanes({ ...program, config })).toEqual({ get_page: "destroys", get_post: "reads" });
});

test("T22: a hint that a server gives to everything still counts until a person says otherwise", async () => {
  const destroys = { readOnlyHint: false, destructiveHint: true };
  const names = ["hover", "click", "scroll"];
  const alike = [...names.map((name) => definition(name, destroys)), definition("drop_file", destroys)];
  const program = await served([...alike, definition("snapshot", READS)]);
  expect(await lanes(program)).toMatchObject({ hover: "destroys", drop_file: "destroys", snapshot: "reads" });
  await agree(program, "up", "--writes", "--config", program.config);
  expect(await lanes(program)).toEqual({
    ...Object.fromEntries(names.map((name) => [name, "writes"])),
    ...{ drop_file: "destroys", snapshot: "reads" },
  });
});

test("T22: a hint that a server gives to some tools is never taken for an empty one", async () => {
  const destroys = { readOnlyHint: false, destructiveHint: true };
  const tools = ["write_file", "edit_file", "move_file"].map((name) => definition(name, destroys));
  const program = await served([...tools, definition("create_folder", { destructiveHint: false })]);
  await agree(program, "up", "--writes", "--config", program.config);
  expect(await lanes(program)).toMatchObject({ write_file: "destroys", move_file: "destroys" });
});

test("T22: a mark of a trusted source counts for its exact definition too", async () => {
  const program = openProgram();
  const file = program.write("tools.json", [definition("get_page")]);
  const config = { command: process.execPath, args: [UPSTREAM, file] };
  const pins = createPins();
  const gateway = gatewayOf([createMcpSource("up", config, { trusted: true, limits: PATIENT })], { pins });
  onTestFinished(() => gateway.close());
  await gateway.ready();
  const laneNow = async () => (await gateway.view()).find("up.get_page")?.lane;
  expect(await laneNow()).toBe("write");
  expect(await pins.approve({ pins: pins.list().map((pin) => ({ ...pin, lane: "read" })) })).toBe(1);
  expect(await laneNow()).toBe("read");
  const others = pins.list().map((pin) => ({ ...pin, hash: "another", lane: "destructive" as const }));
  expect(await pins.approve({ pins: others })).toBe(0);
  await pins.revoke("all");
  expect(await laneNow()).toBe("write");
});

test("T22: an operation of an API is in the lane of its method or a stricter one that a word implies", async () => {
  const operation = (operationId?: string, parameters: object[] = []) => ({
    ...(operationId && { operationId }),
    parameters,
    responses: {},
  });
  const action = { name: "action", in: "query", schema: { enum: ["show", "delete"] } };
  const document = {
    openapi: "3.1.0",
    info: { title: "Users", version: "1" },
    servers: [{ url: "https://users.example" }],
    paths: {
      "/users": { get: operation("listUsers"), post: operation("searchUsers") },
      "/delete-user": { get: operation() },
      "/cache/purge": { get: operation("cache") },
      "/users/send": { get: operation("mail") },
      "/things": { get: operation("things", [action]) },
      "/merge_requests": { get: operation("getMergeRequests"), delete: operation("closeAll") },
      "/orders/{id}/comments": { get: operation("orderComments") },
    },
  };
  const gateway = createGateway({ domains: [], sources: [createOpenApiSource("api", { document })] });
  onTestFinished(() => gateway.close());
  await gateway.ready();
  const { entries } = await gateway.view();
  expect(Object.fromEntries(entries.map(({ name, lane }) => [name, lane]))).toEqual({
    listUsers: "read",
    searchUsers: "write",
    "GET /delete-user": "destructive",
    cache: "destructive",
    mail: "write",
    things: "destructive",
    getMergeRequests: "read",
    closeAll: "destructive",
    orderComments: "read",
  });
});

test.skipIf(tmuxMissing() !== undefined)(
  "T22: one key on the approval screen marks the tools that look as if they only read, and no other",
  { retry: 0 },
  async () => {
    const tools = ["get_page", "list_pages", "query", "update_page", "get_and_delete_page"];
    const program = await served(tools.map((name) => definition(name)));
    const terminal = program.terminal("approve", "--config", program.config);
    await terminal.sees("2 tools look as if they only read");
    await terminal.sees("Enter answer");
    terminal.type("R");
    await terminal.sees("reads, by you");
    await terminal.answers("Approve all 5 (2 with your word for the effect)");
    await terminal.sees("up: 5 approved.");
    expect(await lanes(program)).toEqual({
      ...{ get_page: "reads", list_pages: "reads", query: "writes" },
      ...{ update_page: "writes", get_and_delete_page: "destroys" },
    });
  },
);
