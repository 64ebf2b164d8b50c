import type { Lane } from "../schema/entry.ts";

/** Verbs in tool names that imply a lane. Other verbs imply nothing. */
const VERBS: Readonly<Record<Lane, string>> = {
  read: `get list search find show read fetch query view describe count check lookup look browse explore
    inspect visit preview compare analyze analyse summarize explain validate verify export download trace
    resolve estimate calculate compute detect identify recommend suggest retrieve scan monitor track diff`,
  write: `create add new make insert update edit set put patch post change modify rename move copy link attach
    assign upload send reply publish save write store enable disable toggle start stop run execute apply
    merge import register subscribe invite share upsert append replace reset restore schedule
    submit approve reject close reopen open book pay order buy install deploy commit push tag comment archive
    unlink detach unassign cancel unsubscribe invoke trigger sync transfer convert generate sign grant`,
  destructive: `delete remove drop destroy purge erase wipe truncate kill terminate revoke uninstall clear
    overwrite format prune reorganize reorganise`,
};

const LANE_OF_VERB = new Map<string, Lane>(
  (Object.entries(VERBS) as [Lane, string][]).flatMap(([lane, verbs]) =>
    verbs.split(/\s+/).map((verb): [string, Lane] => [verb, lane]),
  ),
);

/** The lane that a verb implies, if any. */
export function laneOfVerb(word: string): Lane | undefined {
  return LANE_OF_VERB.get(word);
}
