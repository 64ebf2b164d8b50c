import { splitWords } from "../../base/util/split-words.ts";
import { stem } from "./analyze.ts";

/** The strongest effect of tools with such a verb in their name. `unclear`: some read, others write. */
type VerbEffect = "read" | "unclear" | "write" | "destructive";

/**
 * All verbs that Keyhole knows, by effect. `common` verbs begin names of tools and translate words of other languages;
 * `asked` verbs also start a person's request; `named` verbs occur only in names. `acting` words show the effect of a
 * tool besides its verb.
 */
const VERBS: Readonly<Record<VerbEffect, { common: string; asked: string; named: string; acting?: string }>> =
  {
    read: {
      common: "get read list show search find",
      asked: "fetch view count look compare analyze summarize calculate compute",
      named: `describe lookup explore inspect preview analyse explain validate trace estimate detect identify recommend
      suggest retrieve monitor diff`,
    },
    unclear: {
      common: "download",
      asked: "query check export",
      named: "browse visit verify resolve scan track",
    },
    write: {
      common: "create add update edit send write move rename copy open close run upload",
      asked: `make set post change assign reply publish save store start stop execute import subscribe invite share
      schedule submit approve book pay order buy install deploy comment archive cancel convert generate`,
      named: `new insert put patch modify link attach enable disable toggle apply register upsert append replace
      restore reject reopen commit push tag unlink detach unassign unsubscribe invoke trigger sync transfer sign
      grant`,
      acting: `forward email notify restart reboot build clone mark click press fill drag eval evaluate launch shutdown
      refund charge withdraw deposit trade vote follow unfollow block unblock ban mute pin unpin star unstar fork rebase
      checkout checkin revert rollback undo migrate provision rotate swap mint stake claim redeem dispatch emit
      broadcast enqueue acknowledge snooze complete flag dismiss confirm accept decline pause resume mount unmount lock
      unlock suspend activate deactivate impersonate join leave exec rewrite configure authorize purchase sell escalate
      mutate ingest connect disconnect set_up log_in log_out sign_in sign_out sign_up check_in check_out turn_on
      turn_off roll_back pop dequeue consume drain ack quarantine repair fix once into`,
    },
    destructive: {
      common: "delete remove merge",
      asked: "format",
      named: `drop destroy purge erase wipe truncate kill terminate revoke uninstall clear overwrite prune reset
      reorganize reorganise`,
      acting:
        "force unsafe forget discard flush nuke shred evict expunge void rm rmdir del shut_down tear_down",
    },
  };
/** Verbs of names alone: among arguments they are settings (`compress`, `ignore_case`). */
const NAMED_ONLY: Partial<Record<VerbEffect, string>> = {
  write: `abort acquire adjust admit allocate alter amend annotate anonymise anonymize authenticate backfill bump bust
    calibrate certify chmod chown cleanse collapse compress conclude cordon customise customize deallocate decompress
    decrement decrypt deduplicate dedupe defragment delist demote denormalise denormalize depublish deregister disarm
    dispense donate downvote elevate encrypt endorse enforce enrol enroll ensure evacuate expire extend
    finalise finalize finish halt hibernate hide hire hydrate increment initialise initialize inject interact invalidate
    isolate kick manage minimise minimize nack negotiate nominate nudge obfuscate offboard onboard optimise optimize
    overrule populate postpone prepend prioritise prioritize promote propose protect provision rearrange reassure rebalance
    recalculate reclaim reconcile recruit redact redo reindex reinstate relocate remediate remit renumber reparent
    reprocess requeue resequence resize resurrect retire retract revive rollout rsvp sanitise sanitize scrub settle shuffle
    spawn squash stash summon symlink synchronise synchronize triage tweak undelete unset unshare unzip upvote vend waive
    wake warn carry_out cherry_pick clock_in clock_out fail_over fine_tune go_live hand_over hang_up kick_off opt_in
    opt_out power_off power_on print_document print_file put_online react_to rekey replay rollover take_offline top_up train_model type_in type_text unpack
    wind_down zip_file zip_files zip_folder`,
  destructive: `annihilate cleanup cull decommission deprovision dispose ditch eliminate eradicate expel liquidate
    nullify obliterate rmtree scrap teardown zap zeroise zeroize blow_away bring_down clean_up get_rid knock_out
    recycle_bin take_down throw_away zero_out`,
};
/** Verbs only at the beginning of a name without a verb that reads: `label_issue`, but `get_label`, `label_search`. */
const LEADING: Partial<Record<VerbEffect, string>> = {
  write: `advance airdrop alias allow allowlist arm backup bet bid blacklist bookmark boot borrow bounce bridge cache call
    capture checkpoint clean compact control correct cut cycle debit defer delegate deny denylist dial dim downgrade
    duplicate end failover favor favorite favourite fax flash flip focus freeze heat hold honk index issue label lease lend
    like log login logout lower message mirror nest optout pack partition permit play poke prime process punch raise
    rate record recycle refresh release report request reserve retry retweet review ring scale seal seed setup shard ship
    signin signout signup skip spend spray stage stamp switch swipe taint tap throttle toot touch transition tune tweet
    upgrade vacuum wager warm whitelist wire wrap`,
  destructive: "burn empty trash",
};
/** Last words of names that are no verbs: `log_entries`, `rate_limits`. */
const NOUN_ENDINGS = new Set(
  split(`info stats statistics status history detail details summary overview metadata schema doc docs documentation help
    limit limits entries result results logs count counts names types version versions feed rate rates notes templates
    report reports metrics log`),
);
/** Verbs that start a request and do not show the effect of a tool. */
const ONLY_ASKED =
  "build clone draw email extract fill filter give mark notify play plot print record remind report reserve restart tell translate";

const rows = Object.values(VERBS);
const effects = effectsOf(({ common, asked, named }) => `${common} ${asked} ${named}`);
const actingEffects = effectsOf(({ acting = "" }) => acting);

const namedOnlyEffects = effectsOf((_, effect) => NAMED_ONLY[effect] ?? "");
const leadingEffects = effectsOf((_, effect) => LEADING[effect] ?? "");

function effectsOf(
  wordsOf: (row: (typeof VERBS)[VerbEffect], effect: VerbEffect) => string,
): ReadonlyMap<string, VerbEffect> {
  const all = Object.entries(VERBS) as [VerbEffect, (typeof VERBS)[VerbEffect]][];
  return new Map(
    all.flatMap(([effect, row]) => split(wordsOf(row, effect)).map((verb) => [verb, effect] as const)),
  );
}

/** Verbs at the beginning of tool names. */
export const COMMON_VERBS: readonly string[] = rows.flatMap(({ common }) => split(common));
/** Verbs at the beginning of requests. */
export const REQUEST_VERBS: readonly string[] = [
  ...COMMON_VERBS,
  ...rows.flatMap(({ asked }) => split(asked)),
  ...split(ONLY_ASKED),
];
/** Verbs that are nouns if another word can be the verb: `ship_order`, `comment_delete`. */
export const THINGS: ReadonlySet<string> = new Set(split("order book post comment tag link track"));
/** Verbs that are nouns or states after another verb: `list_merge_requests`, `get_run`, `search_open_issues`. */
export const NOUNS_TOO: ReadonlySet<string> = new Set(
  split(`order book post comment tag link track open close merge run copy move set change update edit reply start stop
    import share schedule submit archive patch toggle reset restore commit push sync transfer sign grant trigger store
    save register install deploy invite make new upload format clear force email build clone mark click press charge
    deposit refund trade vote follow block ban mute pin star fork stake claim flag pause lock purchase forward complete
    swap mint mount join leave void cancel`),
);
/** Writing verbs of tools that may only read: a server's hint to read counts for them. */
export const BELIEVED: ReadonlySet<string> = new Set(split("open generate convert"));
export const CREATING_VERBS: readonly string[] = split("create add new insert register");
export const CHANGING_VERBS: readonly string[] = split(
  "update edit patch change modify rename move replace archive upsert",
);
/** Most usual first, here and below. */
export const SEARCHING_VERBS: readonly string[] = split("search find query list browse");
export const SHOWING_VERBS: readonly string[] = split("get read show fetch view describe");

/** Verbs that undo each other for the same entity. */
const UNDO_PAIRS: readonly (readonly [makes: string, undoes: string])[] = [
  ["create add insert new make upload register book", "delete remove destroy cancel unregister"],
  ["archive", "unarchive restore"],
  ["enable", "disable"],
  ["start", "stop"],
  ["lock", "unlock"],
  ["publish", "unpublish"],
  ["subscribe", "unsubscribe"],
  ["assign", "unassign"],
  ["link", "unlink"],
  ["attach", "detach"],
];

/** The effect of a verb in a tool's name. Undefined for any other word. */
export function effectOfVerb(word: string): VerbEffect | undefined {
  return effects.get(word);
}

/** Verbs without another meaning, also inside a word: `deletes`, `getanddelete`, but not `deleted`. */
const PLAIN_DESTRUCTION = /^\p{L}*(?:delete|destroy|truncate|overwrite|purge|revoke|uninstall|erase)\p{L}*$/u;

/** The effect of a word anywhere in a definition: also `forward`, `force`, and verbs of two words (`check_out`). */
export function effectOfWord(word: string): VerbEffect | undefined {
  const effect = effects.get(word) ?? actingEffects.get(word);
  return effect ?? (PLAIN_DESTRUCTION.test(word) && !word.endsWith("d") ? "destructive" : undefined);
}

/** Verbs without a space before their object: `createissue`, but not `creator` or `updates`. */
const GLUED =
  /^(?:create|update|write|insert|send|upload|rename|replace|modify|publish|execute|install|approve|register|subscribe|deploy|append|invoke)(?!(?:\p{L}?(?:s|d|r|rs|ed|ers?|ors?|ing|ments?|ions?|able|ups?))$)\p{L}{3}/u;

/** The effect of a word of a name, also of `reassign` and `unshare`. */
export function effectOfNameWord(word: string): VerbEffect | undefined {
  const effect = effectOfWord(word) ?? namedOnlyEffects.get(word);
  if (effect) return effect;
  const [, base = ""] = /^(?:re|un)(\p{L}{3,})$/u.exec(word) ?? [];
  const undone = effects.get(base) ?? actingEffects.get(base);
  return undone === "write" || undone === "destructive" ? "write" : undefined;
}

/**
 * The effect of the first word of a name, or of one behind `and`, that is a verb in this place alone: `label_issue`,
 * `sends_mail`. `isWhole`: the word is the whole name.
 */
export function effectOfLeadingWord(word: string, isWhole: boolean): VerbEffect | undefined {
  if (isWhole && GLUED.test(word)) return "write";
  const bare = effects.get(word.replace(/s$/, ""));
  return (
    leadingEffects.get(word) ?? (bare === "read" || NOUNS_TOO.has(word.replace(/s$/, "")) ? undefined : bare)
  );
}

/** Whether a name with this last word says a thing, not an action. */
export function isNounEnding(word: string): boolean {
  return NOUN_ENDINGS.has(word);
}

const destroyingStems = new Set(
  split(
    `${VERBS.destructive.common} ${VERBS.destructive.asked} ${VERBS.destructive.named} ${VERBS.destructive.acting}`,
  ).map(stem),
);

/** Whether a request contains a destructive verb in any form: "deleting", "erased". */
export function asksToDestroy(request: string): boolean {
  return splitWords(request).some((word) => destroyingStems.has(stem(word)));
}

/** Whether the name of a tool contains a destructive verb. */
export function namesDestruction(name: string): boolean {
  return splitWords(name).some((word) => effectOfWord(word) === "destructive");
}

/** Verbs of tools that may undo this verb. */
export function undoingVerbs(verb: string): readonly string[] {
  return split(UNDO_PAIRS.find(([makes]) => split(makes).includes(verb))?.[1] ?? "");
}

function split(list: string): string[] {
  return list.split(/\s+/).filter((verb) => verb !== "");
}
