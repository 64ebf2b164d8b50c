/**
 * Secrets by how their issuers spell them. Each starts where no word goes on, so that a long run of letters
 * is looked at once.
 */
const KINDS: readonly RegExp[] = [
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z ]{0,40}-----|$)/,
  /\bsk-[\w-]{16,}/, // OpenAI, Anthropic, OpenRouter
  /\b(?:gh[oprsu]_|github_pat_)\w{16,}/,
  /\bgl(?:pat|ptt|dt|rt|cbt|oas)-[\w-]{16,}/, // GitLab
  /\bxox[abeoprs]-[\w-]{10,}/, // Slack
  /\bxapp-[\w-]{10,}/,
  /\bhooks\.slack\.com\/(?:services|workflows)\/[\w/]+/,
  /\b(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}\b/, // AWS
  /\bAIza[\w-]{30,}/, // Google
  /\bya29\.[\w-]{16,}/,
  /\bGOCSPX-[\w-]{16,}/,
  /\b(?:sk|rk|pk)_(?:live|test)_\w{10,}/, // Stripe
  /\bwhsec_\w{16,}/,
  /\b(?:SK|AC)[0-9a-f]{32}\b/, // Twilio
  /\bSG\.[\w-]{16,}\.[\w-]{16,}/, // SendGrid
  /\bnpm_\w{30,}/,
  /\bpypi-[\w-]{30,}/,
  /\brubygems_[0-9a-f]{32,}/,
  /\bdckr_pat_[\w-]{16,}/, // Docker
  /\bhf_[A-Za-z]{30,}/, // Hugging Face
  /\bdo[opr]_v1_[0-9a-f]{32,}/, // DigitalOcean
  /\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}/, // Shopify
  /\b\d{8,10}:[\w-]{35}/, // Telegram
  /\bkey-[0-9a-f]{32}\b/, // Mailgun
  /\bdapi[0-9a-f]{32}/, // Databricks
  /\blin_(?:api|oauth)_\w{30,}/, // Linear
  /\b(?:secret|ntn)_\w{40,}/, // Notion
  /\bhv[bsr]\.[\w-]{20,}/, // Vault
  /\bdp\.(?:pt|st|ct|sa)\.\w{30,}/, // Doppler
  /\bsbp_[0-9a-f]{32,}/, // Supabase
  /\b(?:gsk|xai|pplx|r8|tvly)[_-]\w{20,}/, // Groq, xAI, Perplexity, Replicate, Tavily
  /\bpk_\d{6,10}_\w{20,}/, // ClickUp
  /\bAGE-SECRET-KEY-1[0-9A-Z]{40,}/,
  /(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/, // JSON Web Tokens
];
const ANY_KIND = new RegExp(KINDS.map(({ source }) => `(?:${source})`).join("|"), "g");

const SCHEME = /\b(Bearer|Basic|Token)( +)([\w.~+/=-]{8,})/gi;
const USER_INFO = /(:\/\/[^\s:/?#@]{0,256}:)[^\s/?#@]{1,512}(?=@)/g;
const AZURE = /\b(AccountKey|SharedAccessKey|sig)=[\w%+/=-]{16,}/g;
const NAMED_WORDS =
  "(?:password|passwd|passphrase|secret|(?<!page|sync|cursor|continuation)token|api[_-]?key|access[_-]?key|private[_-]?key|authorization|cookie|credential)";
const NAMED = new RegExp(`${NAMED_WORDS}s?$`, "i");
/** A value with a digit: what is written of types and in prose mostly has none. */
const ASSIGNED = new RegExp(
  `(${NAMED_WORDS}\\\\?["']?\\s{0,3}[:=]\\s{0,3}\\\\?["']?)(?=[^\\s"'\\\\,;&]{0,200}\\d)[^\\s"'\\\\,;&]{6,}`,
  "gi",
);
/** Of a variable, as files and commands set it, whatever the value is. */
const VARIABLE =
  /\b([A-Z][A-Z0-9_]{0,60}(?:PASSWORD|SECRET|TOKEN|API_?KEY|ACCESS_KEY|CREDENTIALS)=["']?)[^\s"']{4,}/g;

/** Text without what looks like a secret of one of the known kinds. */
export function replaceSecrets(text: string, replacement: string): string {
  return text
    .replace(ANY_KIND, replacement)
    .replace(SCHEME, (whole, scheme: string, gap: string, value: string) =>
      /\d/.test(value) || value.length >= 20 ? `${scheme}${gap}${replacement}` : whole,
    )
    .replace(USER_INFO, (_, before: string) => `${before}${replacement}`)
    .replace(AZURE, (_, name: string) => `${name}=${replacement}`)
    .replace(VARIABLE, (_, before: string) => `${before}${replacement}`)
    .replace(ASSIGNED, (_, before: string) => `${before}${replacement}`);
}

/** Whether a field's name says that its text is a secret. */
export function namesSecret(field: string): boolean {
  return field.length <= 100 && NAMED.test(field);
}
