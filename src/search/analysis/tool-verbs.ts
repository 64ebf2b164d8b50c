/** The strongest thing that a tool with such a verb in its name does. */
type VerbEffect = "read" | "write" | "destructive";

/**
 * Every verb that Keyhole knows, by effect. `common` ones begin the names of tools and stand for words of other
 * languages, `asked` ones also start a request of a person, `named` ones only occur in names of tools.
 */
const VERBS: Readonly<Record<VerbEffect, { common: string; asked: string; named: string }>> = {
  read: {
    common: "get read list show search find download",
    asked: "fetch query view count check look compare analyze summarize export calculate compute",
    named: `describe lookup browse explore inspect visit preview analyse explain validate verify trace resolve
      estimate detect identify recommend suggest retrieve scan monitor track diff`,
  },
  write: {
    common: "create add update edit send write move rename copy open close merge run upload",
    asked: `make set post change assign reply publish save store start stop execute import subscribe invite share
      schedule submit approve book pay order buy install deploy comment archive cancel convert generate`,
    named: `new insert put patch modify link attach enable disable toggle apply register upsert append replace reset
      restore reject reopen commit push tag unlink detach unassign unsubscribe invoke trigger sync transfer sign
      grant`,
  },
  destructive: {
    common: "delete remove",
    asked: "format",
    named: `drop destroy purge erase wipe truncate kill terminate revoke uninstall clear overwrite prune reorganize
      reorganise`,
  },
};
/** Verbs that start a request and say nothing about the effect of a tool. */
const ONLY_ASKED =
  "build clone draw email extract fill filter give mark notify play plot print record remind report reserve restart tell translate";

const rows = Object.values(VERBS);
const effects = new Map(
  (Object.keys(VERBS) as VerbEffect[]).flatMap((effect) =>
    Object.values(VERBS[effect]).flatMap((list) => split(list).map((verb) => [verb, effect] as const)),
  ),
);

/** Verbs that names of tools begin with. */
export const COMMON_VERBS: readonly string[] = rows.flatMap(({ common }) => split(common));
/** Verbs that start a request. */
export const REQUEST_VERBS: readonly string[] = [
  ...COMMON_VERBS,
  ...rows.flatMap(({ asked }) => split(asked)),
  ...split(ONLY_ASKED),
];
/** Verbs that name a thing wherever another word can be the verb: `ship_order`, `comment_delete`. */
export const THINGS: ReadonlySet<string> = new Set(split("order book post comment tag link track"));
/** Verbs of tools that make a thing, and of tools that change one. */
export const CREATING_VERBS: readonly string[] = split("create add new insert register");
export const CHANGING_VERBS: readonly string[] = split(
  "update edit patch change modify rename move replace archive upsert",
);
/** Verbs of tools that look for things, and of tools that show one, the most usual first. */
export const SEARCHING_VERBS: readonly string[] = split("search find query list browse");
export const SHOWING_VERBS: readonly string[] = split("get read show fetch view describe");

/** Verbs of one entity that undo each other. */
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

/** The effect that a verb in a tool's name implies. Undefined for any other word. */
export function effectOfVerb(word: string): VerbEffect | undefined {
  return effects.get(word);
}

/** The verbs of tools that may undo what a tool with this verb did. */
export function undoingVerbs(verb: string): readonly string[] {
  return split(UNDO_PAIRS.find(([makes]) => split(makes).includes(verb))?.[1] ?? "");
}

function split(list: string): string[] {
  return list.split(/\s+/).filter((verb) => verb !== "");
}
