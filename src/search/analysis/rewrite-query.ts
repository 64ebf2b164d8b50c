/** Short forms and everyday words of this field, and their words in names and descriptions. */
const SHORT_FORMS: readonly (readonly [form: RegExp, words: string])[] = [
  [/\bPRs?\b/i, "pull request"],
  [/\bMRs?\b/, "merge request"],
  [/\brepos?\b/i, "repository"],
  [/\bdbs?\b/i, "database"],
  [/\bDMs?\b/, "direct message"],
  [/\bk8s\b/i, "kubernetes"],
  [/\bfolders?\b/i, "directory"],
  [/\b(?:(?:start|begin|make) an? new|(?:write|note|jot) down)\b/i, "create"],
  [/\b(?:get rid of|throw (?:\S+ ){0,4}(?:away|out)|trash)\b/i, "delete remove"],
  [/\b(?:remember|memorize|memorise)\b/i, "memory"],
  [
    /\b(?:merken? (?:dir|mir|euch|uns)|souviens-toi|retiens|recuerda|ricorda|lembre|onthoud)\b/i,
    "remember memory",
  ],
];

/** A web address, with its scheme or by its host. */
const ADDRESS =
  "https?://\\S+|(?:www\\.)?[a-z\\d-]+(?:\\.[a-z\\d-]+)*\\.(?:com|org|net|io|dev|app|ai|edu|gov)(?:/\\S*)?";
const SITE = "(?:(?:an?|the|this|that)\\s+)?(?:web ?sites?|web ?pages?|links?|urls?)\\b";
/** People go to an address or open a website; tools navigate to a URL. */
const VISIT = new RegExp(`\\b(?:go to|visit|open|browse(?: to)?|load)\\s+(?:${ADDRESS}|${SITE})`, "i");

/** Requests to change the state of a thing, which most tools call an update. */
const STATE_CHANGE = new RegExp(
  `^\\W*(?:(?:please|can|could|would|you|now)\\s+)*(?:(?:mark|flag)\\b.*\\bas|set\\b.*\\bto|(?:move|put)\\b.*\\b(?:to|on)|${[
    "(?:re)?assign",
    "close",
    "reopen",
    "complete",
    "finish",
    "resolve",
    "rename",
    "change",
    "postpone",
    "reschedule",
    "(?:de)?activate",
    "archive",
    "publish",
    "accept",
    "approve",
    "reject",
  ].join("|")})\\b`,
  "i",
);

/** Things that people open, submit, file or raise, and tools create. */
const FILED =
  "pull requests?|merge requests?|PRs?|MRs?|issues?|tickets?|bugs?|bug reports?|feature requests?|incidents?";
const FILING = new RegExp(
  `\\b(?:open|submit|file|raise)(?:s|ed|d|ing|ting)?\\s+(?:(?:an?|the|my|new|another|this)\\s+)*(${FILED})\\b`,
  "i",
);
/** Things that are open, not things to open. */
const OPEN_ONES = new RegExp(`\\bopen\\s+(?:${FILED.replaceAll("s?", "s")})\\b`, "i");
/** Trackers call all of these issues. */
const TRACKED = /^(?:ticket|bug|bug report|feature request)$/;
const NOT_NEW = /\b(?:list|show|get|find|all|any|count|close|which|what)\b/i;

/** Adds the words of tools to a query with everyday words: "open a PR" also asks to create a pull request. */
export function rewriteQuery(query: string): string {
  const filed = filingIn(query)?.[1];
  const plain = SHORT_FORMS.filter(([form]) => form.test(query)).map(([, words]) => words);
  if (VISIT.test(query)) plain.push("navigate to URL");
  if (STATE_CHANGE.test(query)) plain.push("update");
  if (filed === undefined && plain.length === 0) return query;
  const thing = SHORT_FORMS.find(([form]) => filed !== undefined && form.test(filed))?.[1] ?? singular(filed);
  const created = TRACKED.test(thing) ? [`create ${thing}`, "create issue"] : [`create ${thing}`];
  const added = filed === undefined ? plain : [...created, ...plain.filter((words) => words !== thing)];
  return `${query} ${added.join(" ")}`;
}

/** The query in the words of tools only, to find names: "raise a PR" is "create pull request". May be empty. */
export function queryVariants(query: string): string[] {
  const spelled = SHORT_FORMS.reduce((text, [form, words]) => text.replace(form, inNumberOf(words)), query);
  const filing = filingIn(spelled);
  if (filing === undefined) return spelled === query ? [] : [spelled];
  const thing = singular(filing[1]);
  const things = TRACKED.test(thing) ? [thing, "issue"] : [thing];
  return things.map((created) => spelled.replace(filing[0], `create ${created}`));
}

function filingIn(query: string): RegExpExecArray | undefined {
  if (NOT_NEW.test(query) || OPEN_ONES.test(query)) return undefined;
  return FILING.exec(query) ?? undefined;
}

/** Keeps the number of a noun, because names distinguish singular and plural. */
function inNumberOf(words: string): (form: string) => string {
  return (form) => (/[a-z]s$/i.test(form) ? `${words.replace(/y$/, "ie")}s` : words);
}

function singular(thing = ""): string {
  return thing.toLowerCase().replace(/s$/, "");
}
