import { isSecretKind, namesSecret, replaceSecrets } from "./secret-patterns.ts";

const MIN_CHARS = 8;
/** Minimum length of a value with the name of a secret that is not only letters or digits. */
const MIN_NAMED_CHARS = 6;
/** Values that are common both in configurations and in ordinary text. */
const COMMON = new Set(
  `password passw0rd changeme changeit postgres postgresql localhost 127.0.0.1 default example
    undefined disabled required production development testtest password1 12345678 123456789
    1234567890 administrator application/json anonymous none-needed`.split(/\s+/),
);
const SCHEME = /^(bearer|basic|token|apikey) +(\S+)$/i;
const FLAG = /^--?([\w-]{1,64})(?:=([\s\S]*))?$/;
const PAIR = /(?:^|[;\s])([\w .-]{1,64}?)\s?=\s?("[^"]*"|'[^']*'|[^;\s]+)/g;
/** The words before the password of a login: `-u me:password`. */
const LOGIN_FLAG = /^(?:u|user|userpwd|proxy-user)$/i;
const LOGIN = /^[^\s:/]+:(?=\S*\D)([^\s:/]\S*)$/;
/** `me:password@tcp(host)/name`, as drivers of Go write it. */
const GO_LOGIN = /^[^\s:/@]+:([^\s@/]+)@(?:[a-z]+)?\(/;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const RUN = /[A-Za-z0-9+/_]{16,}/;

/** Collects the secrets among named values, such as environment variables, headers or settings. */
export function secretsInFields(fields: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(fields).flatMap(([name, value = ""]) => secretsIn(name, value));
}

/** Collects secrets in the environment of the process, which is mostly meant for other programs. */
export function secretVariables(env: Readonly<Record<string, string | undefined>>): string[] {
  const named = Object.entries(env).filter(
    ([name, value = ""]) => namesSecret(name) || value.includes("://"),
  );
  return secretsInFields(Object.fromEntries(named));
}

/** Collects the secrets among the arguments of a command: `--token x`, `--token=x`, `DB_PASS=x`, addresses. */
export function secretsInArgs(args: readonly string[]): string[] {
  return args.flatMap((argument, at) => {
    const [, flag, joined] = FLAG.exec(argument) ?? [];
    const before = FLAG.exec(args[at - 1] ?? "");
    if (flag !== undefined) return joined === undefined ? [] : secretsIn(flag, joined);
    return secretsIn(before?.[2] === undefined ? (before?.[1] ?? "") : "", argument);
  });
}

/**
 * Collects the secrets in one value: all of it if its name marks it as secret or it looks like a key, otherwise the
 * secret parts of an address or a connection string. Short and common values never count.
 */
export function secretsIn(name: string, value: string): string[] {
  const isNamed = isSecretName(name);
  const scheme = SCHEME.exec(value.trim());
  if (scheme) return [scheme[2]!, ...passwordOfBasic(scheme)].filter((one) => isTelling(one, true));
  const login = (LOGIN_FLAG.test(name) ? LOGIN.exec(value) : GO_LOGIN.exec(value))?.[1];
  const parts = login !== undefined && isTelling(login, true) ? [login] : secretsInAddress(value);
  if (parts.length > 0) return parts;
  const pairs = [...value.matchAll(PAIR)].flatMap(([, key = "", part = ""]) =>
    secretsIn(key.trim(), unquote(part)),
  );
  if (pairs.length > 0 && !isNamed) return pairs;
  const counts = isNamed ? isTelling(value, true) : isTelling(value, false) && looksLikeKey(value);
  return counts ? [value] : pairs;
}

/** Whether the name of a variable, header or option marks its value as secret. */
function isSecretName(name: string): boolean {
  return namesSecret(name) || /(?:^|[_-])(?:key|auth|pat|bearer|jwt|otp|creds|pword)$/i.test(name);
}

/** Whether a value is long and rare enough to be replaced everywhere. */
export function isTelling(value: string, isNamed: boolean): boolean {
  if (COMMON.has(value.toLowerCase())) return false;
  if (value.length >= MIN_CHARS) return true;
  return isNamed && value.length >= MIN_NAMED_CHARS && !/^(?:[A-Za-z]*|\d*)$/.test(value);
}

/** Password and secret query values of an address, as written and decoded. */
function secretsInAddress(value: string): string[] {
  if (!/^[a-z][a-z0-9+.-]{1,30}:\/\//i.test(value)) return [];
  const values = [/^[^/]*\/\/[^\s:/?#@]*:([^\s/?#]*)@/.exec(value)?.[1] ?? ""];
  for (const pair of value.split("#", 1)[0]!.split("?").slice(1).join("?").split("&")) {
    const [name = "", given = ""] = pair.split("=", 2);
    if (namesSecret(name) || /^(?:key|sig|signature|auth|code|access)$/i.test(name) || looksLikeKey(given))
      values.push(given);
  }
  return [...new Set(values.flatMap((one) => [one, decoded(one)]))].filter((one) => isTelling(one, true));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function passwordOfBasic([, scheme = "", encoded = ""]: readonly string[]): string[] {
  if (scheme.toLowerCase() !== "basic") return [];
  const text = Buffer.from(encoded, "base64").toString();
  return [text.slice(text.indexOf(":") + 1)];
}

/** A known kind of key, or a long run that mixes letters and digits unlike words, paths and ids. */
function looksLikeKey(value: string): boolean {
  if (UUID.test(value) || /^[~./\\]|^[a-z]:\\/i.test(value)) return false;
  if (isSecretKind(value)) return true;
  const run = /[\s:]/.test(value) ? undefined : RUN.exec(value)?.[0];
  return run !== undefined && /[a-z]/i.test(run) && (run.match(/\d(?=\D)|\D(?=\d)/g)?.length ?? 0) >= 4;
}

function unquote(text: string): string {
  return /^(["']).*\1$/.test(text) ? text.slice(1, -1) : text;
}

const HIDDEN = "(hidden)";
/** A plain word that is not a path, which a shell treats as a value. Other text is shown, because it might run. */
const PLAIN = /^(?![~./])[\w.~+/=@%:,^!-]+$/;
const ADDRESS = /^([a-z][\w+.-]*:\/\/[^/?#]*)([\s\S]*)$/i;

function hide(secret: string): string {
  return PLAIN.test(secret) ? HIDDEN : secret;
}

/** Hides the secrets in a variable or header: the whole value if its name marks a secret and it names no variable. */
export function hideInField(name: string, value: string): string {
  return isSecretName(name) && !value.includes("${") ? HIDDEN : hideInValue(name, value);
}

/** Hides the secrets in a value: all of it if its name or kind says so, or if it `mayBeKey`. */
function hideInValue(name: string, value: string, mayBeKey = false): string {
  const isSecret = mayBeKey || isSecretName(name) || isSecretKind(value);
  const secrets = secretsIn(name, value).filter((secret) => isSecret || secret !== value);
  return replaceSecrets(hideEach(value, secrets), hide);
}

function hideEach(text: string, secrets: readonly string[]): string {
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, () => hide(secret)), text);
}

/**
 * Hides the secrets in the words of a command: `--token=x`, `DB_PASS=x`, the word after `--token`, and words that look
 * like keys after the first plain word, which names the program. A word with a dot may be a host or a file.
 */
export function hideInCommand(words: readonly string[]): string[] {
  const first = words.findIndex((word, at) => at > 0 && !word.startsWith("-"));
  return words.map((word, at) => {
    const [, start, option, value] = /^(--?([\w-]+)=)([\s\S]*)$/.exec(word) ?? [];
    if (start !== undefined) return `${start}${hideInValue(option!, value!)}`;
    const before = /^--?([\w-]+)$/.exec(words[at - 1] ?? "")?.[1] ?? "";
    return hideInValue(before, word, at > first && !word.includes("."));
  });
}

/** Hides the secrets in an address. The host stays readable. */
export function hideInAddress(url: string): string {
  const [, start = "", end = url] = ADDRESS.exec(url) ?? [];
  const secrets = [url, ...end.split(/[/?#]/)].flatMap((part) => secretsIn("", part));
  return start.replace(/(?<=:\/\/)[^@]+(?=@)/, hide) + hideEach(end, secrets);
}
