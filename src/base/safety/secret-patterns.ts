/**
 * Matches only at word starts, which keeps long runs of letters linear. An escaped `\\n` in JSON also starts a word.
 */
const START = "(?:(?<!\\w)|(?<=\\\\[bfnrt]))";

/** Formats of secrets by issuer. */
const KINDS: readonly RegExp[] = [
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z ]{0,40}-----|$)/,
  /sk-[\w-]{16,}/, // OpenAI, Anthropic, OpenRouter
  /(?:gh[oprsu]_|github_pat_)\w{16,}/,
  /gl(?:pat|ptt|dt|rt|cbt|oas)-[\w-]{16,}/, // GitLab
  /xox[abeoprs]-[\w-]{10,}/, // Slack
  /xapp-[\w-]{10,}/,
  /hooks\.slack\.com\/(?:services|workflows)\/[\w/]+/,
  /(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}\b/, // AWS
  /AIza[\w-]{30,}/, // Google
  /ya29\.[\w-]{16,}/,
  /GOCSPX-[\w-]{16,}/,
  /(?:sk|rk|pk)_(?:live|test)_\w{10,}/, // Stripe
  /whsec_\w{16,}/,
  /(?:SK|AC)[0-9a-f]{32}\b/, // Twilio
  /SG\.[\w-]{16,}\.[\w-]{16,}/, // SendGrid
  /npm_\w{30,}/,
  /pypi-[\w-]{30,}/,
  /rubygems_[0-9a-f]{32,}/,
  /dckr_pat_[\w-]{16,}/, // Docker
  /hf_[A-Za-z]{30,}/, // Hugging Face
  /do[opr]_v1_[0-9a-f]{32,}/, // DigitalOcean
  /shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}/, // Shopify
  /\d{8,10}:[\w-]{35}/, // Telegram
  /key-[0-9a-f]{32}\b/, // Mailgun
  /dapi[0-9a-f]{32}/, // Databricks
  /lin_(?:api|oauth)_\w{30,}/, // Linear
  /(?:secret|ntn)_\w{40,}/, // Notion
  /hv[bsr]\.[\w-]{20,}/, // Vault
  /dp\.(?:pt|st|ct|sa)\.\w{30,}/, // Doppler
  /sbp_[0-9a-f]{32,}/, // Supabase
  /(?:gsk|xai|pplx|r8|tvly)[_-]\w{20,}/, // Groq, xAI, Perplexity, Replicate, Tavily
  /pk_\d{6,10}_\w{20,}/, // ClickUp
  /AGE-SECRET-KEY-1[0-9A-Z]{40,}/,
  /eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/, // JSON Web Tokens
];
const ANY_KIND = new RegExp(`${START}(?:${KINDS.map(({ source }) => source).join("|")})`, "g");

const SCHEME = new RegExp(`${START}((?:Bearer|Basic|Token) +)([\\w.~+/=-]{8,})`, "gi");
const USER_INFO = /(:\/\/[^\s:/?#@]{0,256}:)[^\s/?#@]{1,512}(?=@)/g;
const AZURE = new RegExp(`${START}((?:AccountKey|SharedAccessKey|sig)=)[\\w%+/=-]{16,}`, "g");
const NAMED_WORDS =
  "(?:password|passwd|passphrase|(?<![a-z])pass(?:code)?|(?<=[_-])pwd|secret|(?<!page|sync|cursor|continuation)token|api[_-]?key|access[_-]?key|private[_-]?key|secret[_-]?key|authorization|cookie|credential)";
const NAMED = new RegExp(`${NAMED_WORDS}s?$`, "i");
/** Requires a digit in the value, because prose and type names rarely have one. */
const ASSIGNED = new RegExp(
  `(${NAMED_WORDS}\\\\?["']?\\s{0,3}[:=]\\s{0,3}\\\\?["']?)(?=[^\\s"'\\\\,;&]{0,200}\\d)[^\\s"'\\\\,;&]{6,}`,
  "gi",
);
/** Matches assignments to variables in files and commands, with any value. */
const VARIABLE = new RegExp(
  `${START}((?:[A-Z0-9_]{0,60}(?:PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|API_?KEY|ACCESS_KEY|SECRET_KEY|PRIVATE_KEY|CREDENTIALS)|[A-Z0-9_]{1,60}_(?:PASS|PWD)|PASS)=\\\\?["']?)[^\\s"'\\\\]{4,}`,
  "g",
);

/** An AWS key id with its key, in any notation. */
const AWS_PAIR =
  /((?:AKIA|ASIA)[A-Z0-9]{16}[^A-Za-z0-9/+]{1,20}(?:[A-Za-z_]{1,40}[^A-Za-z0-9/+]{1,10})?)[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])/g;

/** Whether a whole value looks like a known kind of secret. */
export function isSecretKind(value: string): boolean {
  return value.search(ANY_KIND) === 0;
}

/** Replaces everything that looks like a known kind of secret, by a text or a function. */
export function replaceSecrets(text: string, replacement: string | ((secret: string) => string)): string {
  const replace = typeof replacement === "string" ? () => replacement : replacement;
  const afterName = (whole: string, before: string) => `${before}${replace(whole.slice(before.length))}`;
  return text
    .replace(AWS_PAIR, afterName)
    .replace(ANY_KIND, (secret) => replace(secret))
    .replace(SCHEME, (whole, before: string, value: string) =>
      /\d/.test(value) || value.length >= 20 ? afterName(whole, before) : whole,
    )
    .replace(USER_INFO, afterName)
    .replace(AZURE, afterName)
    .replace(VARIABLE, afterName)
    .replace(ASSIGNED, afterName);
}

/** Whether the name of a field marks its text as secret. */
export function namesSecret(field: string): boolean {
  return field.length <= 100 && NAMED.test(field);
}
