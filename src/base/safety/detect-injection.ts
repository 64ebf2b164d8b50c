import { contentHash } from "../util/content-hash.ts";
import { lazy } from "../util/lazy.ts";
import { IGNORED_IN_WORDS, SMUGGLING, SPLIT_WORD, TAG_LETTERS } from "./invisible.ts";
import { hidesText } from "./visible-text.ts";

/** Ways in which text from outside tries to steer a model. */
export const INJECTION_KINDS = {
  override: "tells a model to ignore its instructions",
  conceal: "asks to hide something from the user",
  credentials: "asks for keys, passwords or files that hold them",
  conversation: "asks for the conversation or the system prompt",
  exfiltrate: "sends data to an address of its own",
  role: "imitates messages of the system or marks of a prompt",
  address: "speaks to the model as its master",
  shadow: "changes how other tools are used",
  bypass: "wants to act without the user's consent",
  obey: "tells a model to obey text that it reads or decodes",
  run: "wants a command run that harms or loads code",
  hidden: "hides text from the reader",
} as const;

/** A way in which text tries to steer a model. See {@link INJECTION_KINDS}. */
export type InjectionKind = keyof typeof INJECTION_KINDS;

const MODEL = "(?:ai|llms?|assistants?|agents?|(?:language )?models?|chatbots?|claude|gpt|copilot)";
const RULES =
  "(?:instructions?|instructed|rules|guidelines?|prompts?|directives?|orders|constraints|restrictions|commands|guardrails)";
const SEND =
  "(?:send|forward|post|upload|transmit|copy|export|submit|leak|exfiltrate|report|mail|email|bcc'?d?|cc'?d?|invite|add)";
const KEYS =
  "(?:api[ _-]?keys?|passwords?|passphrases?|secrets?|private keys?|credentials|(?:access |auth |api )?tokens?|environment variables?|env vars?)";
const FILES =
  "(?:~?/?\\.(?:ssh|aws|kube|docker|gnupg|netrc|npmrc|cursor|config/gcloud|bash_history)\\b|id_(?:rsa|ed25519|ecdsa)\\b|/etc/(?:passwd|shadow)\\b|\\.env\\b(?!\\.)|\\bmcp\\.json\\b|credentials file)";
const URL = "(?:https?://|\\b[\\w.+-]{1,64}@[\\w-]{1,64}\\.|#[\\w-]{3,40}\\b|\\+\\d{8,15}\\b)";
const GAP = "[^.!?\\n]";
/** Honest tools mention paths of files. */
const NOT_A_PATH = "(?:(?!path|default|e\\.g|example|such as|from|located)[^!?\\n]){0,60}";

/** Patterns by kind. Gaps are bounded and stay within a sentence, so matching takes linear time. */
const PATTERNS: Readonly<Record<Exclude<InjectionKind, "hidden">, readonly string[]>> = {
  override: [
    `\\b(?:ignore|disregard|forget|override|overrule|drop|bypass|abandon)\\b(?: (?:all|any|every|everything|each|the|your|these|those|of|that|you|were|given|other|previous|prior|earlier|preceding|above|existing|former|original|current|system|developer|safety|and|or)){1,8} ${RULES}`,
    `\\b(?:forget|ignore|disregard) (?:everything|all(?: that| this)?) (?:above|before|you|that|said|previous)`,
    `\\b(?:instructions|everything|rules|messages)\\b${GAP}{0,40}\\b(?:above|before|previous|earlier)\\b${GAP}{0,30}\\b(?:outdated|obsolete|invalid|void|no longer (?:apply|valid))`,
    `\\b(?:new|updated|only valid|real|actual) (?:system )?instructions? (?:for|to) (?:the |all )?${MODEL}\\b`,
    `\\bonly (?:valid|real|true) instructions?\\b|\\bfollow only (?:these|this|the following)\\b`,
    `\\bignorier\\w{0,3} (?:alle |bitte |sämtliche )?(?:vorherigen|bisherigen|früheren|obigen)|\\bvergiss (?:alle|die|deine)\\b${GAP}{0,20}anweisungen`,
    `\\b(?:ignora|olvida|omite)\\b${GAP}{0,20}\\b(?:instrucciones|reglas)\\b`,
    `\\b(?:ignore[sz]?|oublie[sz]?)\\b${GAP}{0,20}\\b(?:instructions|consignes|règles)\\b`,
    `(?:忽略|无视|無視|忘记|忘掉)[^。\\n]{0,12}(?:指令|指示|说明|规则|提示)`,
  ],
  conceal: [
    `\\b(?:do not|don't|never|must not|should not|mustn't|need not|without)\\b${GAP}{0,24}\\b(?:tell(?:ing)?|inform(?:ing)?|notify(?:ing)?|alert(?:ing)?|reveal(?:ing)?|disclos(?:e|ing)|mention(?:ing)?|show(?:ing)?|let(?:ting)?)\\b${GAP}{0,24}\\b(?:to |the |a |your )?(?:users?|humans?|people|customer)\\b(?! (?:id|name|input))`,
    `\\b(?:do not|don't|never) (?:mention|disclose|reveal|show|tell|report|explain|talk about) (?:it|this|that|these|any of this)(?=[\\s.;,!]|$)(?! (?:tool|error|field|value))`,
    `\\b(?:hide|conceal|keep)\\b (?:it|this|that|these|them)\\b${GAP}{0,20}\\b(?:secret|hidden|from the user|from user|private from)\\b`,
    `\\b(?:the )?users? (?:must|should|may|shall|need) (?:not|never) (?:know|see|notice|learn|find out|be (?:told|informed|aware))`,
    `\\b(?:silently|secretly|covertly|quietly|invisibly) (?:also )?(?:${SEND}|read|call|run|execute|include|append|change|replace|delete|collect)\\b`,
    `\\bpretend (?:that|to|there)\\b|\\blie (?:and say|to the user|about)\\b`,
    `\\bsage? (?:dem|der|den) (?:benutzer|nutzer|anwender)\\w{0,2} nichts\\b|\\berwähne? (?:das|es|dies)\\b${GAP}{0,40}\\bnicht\\b`,
    `\\bno (?:le )?(?:digas|menciones|reveles)\\b|\\bne (?:dis|dites|mentionne|révèle)\\b${GAP}{0,20}\\butilisateur\\b|\\bn'en (?:parle|dis)\\b`,
    `不要(?:告诉|告知|向|让)[^。\\n]{0,4}(?:用户|使用者)`,
  ],
  credentials: [
    `\\b(?:read|open|include|append|attach|send|pass|paste|hand|cat|contents? of|load|print|post|upload|put|supply|file)\\b${NOT_A_PATH}${FILES}`,
    `${FILES}[^!?\\n]{0,40}\\b(?:and|then) (?:send|pass|post|upload|include|append|hand|put|paste)\\b`,
    `\\b(?:all|every|any|values of|collect|include|append|put|followed by|user's|of the user)\\b${GAP}{0,40}\\b${KEYS}\\b${GAP}{0,60}\\b(?:conversation|environment|sent? to|send|transmit|post|note|memo|at the end|here|to this)\\b`,
    `\\bwith (?:the )?(?:user's )?(?:api keys?|access tokens?|passwords?|credentials) (?:of|from) the user\\b|\\bwith the user's (?:api keys?|passwords?|access tokens?|credentials)\\b|\\b(?:api keys?|access tokens?|passwords?) of the user as\\b`,
    `\\b(?:envía|enviar|manda) las contraseñas\\b|\\bsende\\b${GAP}{0,20}\\bpasswörter\\b`,
  ],
  conversation: [
    `\\b(?:include|pass|send|attach|append|put|provide|copy|add|forward)\\b${GAP}{0,40}\\b(?:full|whole|entire|complete|all|verbatim)\\b${GAP}{0,30}\\b(?:conversation|chat(?: history)?|message history|dialog(?:ue)?|system prompt|messages of the user|previous messages)\\b`,
    `\\b(?:whole|entire|full|complete) (?:conversation|chat|dialog(?:ue)?|message)(?: history)?\\b${GAP}{0,40}\\b(?:verbatim|system prompt|tool results|so far|previous messages|word for word)\\b`,
    `\\b(?:reveal|print|output|repeat|show|leak|reply only with)\\b${GAP}{0,20}\\b(?:your|the) (?:system prompt|hidden instructions|(?:contents of your )?memory)\\b`,
  ],
  exfiltrate: [
    `\\b(?:always|also|each|every|all|any|secretly|silently|a copy|them|it|after)\\b${GAP}{0,40}\\b${SEND}\\b${GAP}{0,60}${URL}`,
    `\\b${SEND}\\b${GAP}{0,10}\\b(?:all|every|each|any|a copy|copies|the contents?)\\b[^!?\\n]{0,60}${URL}`,
    `\\b(?:always|must|every)\\b${GAP}{0,40}\\b(?:recipient|number|participant|bcc'?d?|account(?: number)?)\\b${GAP}{0,40}(?:${URL}|\\b[a-z]{2}\\d{2} )`,
    `\\b(?:add|invite|include|cc|bcc|use)\\b${GAP}{0,20}\\b(?:${URL}|[\\w.+-]{1,64}@[\\w-]{1,64}\\.)[^\\n]{0,40}\\b(?:to|in) (?:every|each|all)\\b`,
    `!\\[[^\\]\\n]{0,80}\\]\\(https?://[^)\\s]{0,200}[?=&{<]`,
    `https?://[^\\s]{0,200}[=/](?:<|\\{)[^>}\\n]{0,80}(?:conversation|messages|history|data|secrets?|user)`,
    `\\b(?:is|are|be|was) (?:also )?(?:sent|uploaded|copied|forwarded|posted) to\\b${GAP}{0,20}(?:https?://|\\b[\\w-]{1,63}\\.[\\w-]{1,63}\\.\\w{2,})`,
    `\\b(?:load|insert|add)s?\\b${GAP}{0,40}\\b(?:script|require\\()${GAP}{0,60}https?://`,
  ],
  role: [
    `<\\|(?:im_start|im_end|system|endoftext|start_header_id|eot_id)\\|>|\\[/?inst\\]|<</?sys>>`,
    `</?(?:system|important|secret|instructions?|assistant|tool_description|system[_-]prompt|admin|critical|hidden)>`,
    `(?:^|\\n|[.] ?)\\s{0,3}(?:\\[|\\*\\*|#{1,4} ?)?system(?: (?:override|message|note|prompt|instructions?|update|alert))?(?:\\]|\\*\\*)?:(?=\\s)|\\[system(?: override| message| note)?\\]`,
    `\\byou are now (?:in|an?|the|no|un|free|dan)\\b|\\b(?:developer|god|jailbreak|debug) mode\\b${GAP}{0,40}\\brestrictions?\\b|\\byou are no longer\\b|\\bunrestricted (?:agent|ai|assistant|mode)\\b`,
  ],
  address: [
    `\\b(?:note|message|instructions?|hint|attention|notice|reminder) (?:to|for) (?:the |all |any )?${MODEL}\\b[^\\n]{0,2}:`,
    `(?:^|[\\n>.]\\s{0,3}|<!--\\s{0,3})(?:ai |dear )?(?:${MODEL})s?\\s?:\\s`,
    `\\b(?:the )?(?:assistant|agent|model|llm|ai) (?:must|has to|should|shall|needs to|is required to)\\b${GAP}{0,40}\\b(?:run|execute|read|send|first|also|forward|append|delete|install)\\b`,
    `\\bfrom now on,? (?:you|always|act|work|the (?:assistant|agent))\\b|\\byou (?:now )?work for\\b`,
    `\\bobey (?:the|this|these|all|me|only)\\b`,
  ],
  shadow: [
    `\\b(?:instead of|in place of|over|before|rather than) (?:any|all|every|each)(?: of)?(?: the)? other (?:\\w+ ){0,2}(?:tools?|servers?|functions?)\\b`,
    `\\b(?:other|all other|the others|every other) (?:\\w+ ){0,2}(?:tools?|ones?|servers?)?\\s?(?:are|is) (?:deprecated|unsafe|broken|insecure|malicious|disabled|obsolete)`,
    `\\b(?:this tool|it) (?:overrides|supersedes|takes precedence over|replaces) (?!the (?:existing|previous|default|current)|existing|any existing)\\S{0,60}[._]\\w`,
    `\\b(?:do not|don't|never) use (?:the tool )?[\\w.]{2,60}[._]\\w{1,60}\\b${GAP}{0,30}\\b(?:because|broken|leaks?|unsafe|insecure|compromised|it is)\\b`,
    `\\b(?:change|modify|alter|adjust) the (?:behaviou?r|arguments|parameters|usage) of\\b${GAP}{0,60}\\b(?:send|tool|message|always|set)`,
    `\\bmust be (?:called|used|run|invoked) (?:first )?before (?:every|any|all|each) other\\b|\\bbefore (?:you )?(?:call(?:ing)?|us(?:e|ing)|invok(?:e|ing)) (?:any|every|all) other tools?\\b`,
    `\\b(?:once|when|if|while) this (?:tool|server) is (?:available|connected|installed|present|loaded)\\b`,
    `\\b(?:send|post|write|mail|pay|transfer)_\\w{2,40} must\\b|\\bwhatever the user (?:says|wants|asks)\\b`,
    `\\balways (?:prefer|use|choose|call) this (?:tool|function)\\b${GAP}{0,40}\\b(?:even|regardless|no matter|whatever|over all)\\b`,
  ],
  bypass: [
    `\\b(?:without|do not|don't|never|not|no need to|need not|needn't|no) (?:ever )?(?:ask(?:ing)?|request(?:ing)?|wait(?:ing)? for|confirm(?:ing)?|inform(?:ing)?|seek(?:ing)?)\\b${GAP}{0,10}\\b(?:the user|user|for confirmation|confirmation|permission|approval|again)\\b`,
    `\\b(?:approve|delete|run|execute|call|transfer|replace|set|add|change|act|proceed|allowed)\\b${GAP}{0,50}\\bwithout (?:any )?(?:asking|confirmation|approval|permission|consent)\\b`,
    `\\b(?:skip|bypass|disable|suppress|ignore)\\b${GAP}{0,12}\\b(?:confirmations?|approvals?|permission|consent|safety)(?: (?:prompts?|checks?|dialogs?))?\\b`,
    `\\b(?:user|owner|admin\\w*) (?:has|have) (?:already )?(?:approved|confirmed|consented|agreed|given)\\b${GAP}{0,24}\\b(?:all|every|everything|any)\\b|\\bpre-?approved\\b`,
    `\\bneed no (?:approval|confirmation|consent|permission) (?:of|from|by) the user\\b|\\bapproves? every\\b|\\bapprove every tool call\\b`,
  ],
  obey: [
    `\\b(?:follow|obey|execute|carry out|comply with|do)\\b (?:any|all|the|every)? ?(?:instructions?|commands?|orders|directives)\\b${GAP}{0,20}\\b(?:in|from|of|contained in|found in|inside) (?:the|its|this|any) (?:results?|response|output|text|page|document|content|answer)`,
    `\\b(?:instructions?|commands?)\\b${GAP}{0,40}\\b(?:as (?:coming|if they came)? ?(?:from|by) the user)\\b`,
    `\\bdecode\\b${GAP}{0,40}\\b(?:and|then)\\b${GAP}{0,10}\\b(?:follow|do what|execute|obey|run|carry out)\\b`,
  ],
  run: [
    `\\b(?:curl|wget|iwr|invoke-webrequest)\\b[^\\n|]{0,120}\\|\\s?(?:sudo )?(?:sh|bash|zsh|python3?|node|iex)\\b`,
    `\\brm -rf (?:~|/|\\$home)|\\bchmod -r 777 /`,
  ],
};

const MATCHERS = Object.entries(PATTERNS).map(
  ([kind, sources]) => [kind as InjectionKind, new RegExp(sources.join("|"))] as const,
);
const KINDS = Object.keys(INJECTION_KINDS) as InjectionKind[];

/** Hash of the rules: results of other rules are outdated. */
export const injectionRules = lazy(() =>
  contentHash([PATTERNS, String(SMUGGLING), String(SPLIT_WORD), TEXT_CHARS]),
);

/** Longer texts of definitions are cut before a model reads them. */
const TEXT_CHARS = 16_384;
/** Shorter text cannot steer a model. */
const SHORTEST = 16;

/** Finds known signs of injection in outside text, strongest first, in linear time. None found proves nothing. */
export function detectInjection(text: string): InjectionKind[] {
  if (text.length < SHORTEST) return [];
  const plain = hidesText(text) ? readHidden(text) : text;
  const lower = plain.toLowerCase();
  const kinds = MATCHERS.flatMap(([kind, matcher]) => (matcher.test(lower) ? [kind] : []));
  return SMUGGLING.test(text) || SPLIT_WORD.test(text) ? [...kinds, "hidden"] : kinds;
}

/** Checks all names and texts of a definition, each as far as a model reads it. */
export function findInjection(definition: unknown): InjectionKind[] {
  const signs = new Set<InjectionKind>();
  const waiting: unknown[] = [definition];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value === "string")
      for (const kind of detectInjection(value.slice(0, TEXT_CHARS))) signs.add(kind);
    else if (typeof value === "object" && value !== null)
      for (const [name, part] of Object.entries(value)) waiting.push(name, part ?? null);
  }
  return KINDS.filter((kind) => signs.has(kind));
}

/** The text as a model may read it: tag characters as letters, words without splitting characters. */
function readHidden(text: string): string {
  return text
    .replace(TAG_LETTERS, (tag) => String.fromCharCode(tag.codePointAt(0)! - 0xe0000))
    .replace(IGNORED_IN_WORDS, "");
}
