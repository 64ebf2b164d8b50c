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
/** Verbs that start a request and do not show the effect of a tool. */
const ONLY_ASKED =
  "build clone draw email extract fill filter give mark notify play plot print record remind report reserve restart tell translate";

const rows = Object.values(VERBS);
const effects = effectsOf(({ common, asked, named }) => `${common} ${asked} ${named}`);
const actingEffects = effectsOf(({ acting = "" }) => acting);

function effectsOf(wordsOf: (row: (typeof VERBS)[VerbEffect]) => string): ReadonlyMap<string, VerbEffect> {
  const all = Object.entries(VERBS) as [VerbEffect, (typeof VERBS)[VerbEffect]][];
  return new Map(all.flatMap(([effect, row]) => split(wordsOf(row)).map((verb) => [verb, effect] as const)));
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
