import { createHash } from "node:crypto";

let planted = 0;
/** A secret that occurs nowhere else. Even numbers have marks that every encoding spells differently. */
function canary(): string {
  planted += 1;
  const letters = createHash("sha256")
    .update(`canary ${planted}`)
    .digest("base64url")
    .slice(0, 22)
    .replace(/[-_]/g, "x");
  return planted % 2 === 0 ? `${letters}/+=&?"é` : letters;
}

const many = (names: string) => Object.fromEntries(names.split(" ").map((name) => [name, canary()]));

/** Secrets in every place of a server's configuration. */
export const ENV = {
  ...many(
    "DB_PASS DB_PASSWORD POSTGRES_PWD API_KEY APIKEY STRIPE_SECRET GITHUB_TOKEN SLACK_BOT_TOKEN CLIENT_SECRET",
  ),
  ...many(
    "AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN PRIVATE_KEY SIGNING_KEY MASTER_PASSPHRASE SESSION_COOKIE AUTH",
  ),
  ...many(
    "NPM_AUTH_TOKEN SENTRY_AUTH_TOKEN OPENAI_API_KEY ANTHROPIC_API_KEY ENCRYPTION_KEY SERVICE_CREDENTIALS",
  ),
};
/** The names say nothing; the values look like keys. */
export const UNNAMED_ENV = Object.fromEntries(
  ["FIRST", "SECOND", "THIRD", "FOURTH", "FIFTH", "SIXTH"].map((name, at) => [
    name,
    createHash("sha256").update(`unnamed ${at}`).digest("hex").slice(0, 40),
  ]),
);
const ADDRESSED = Array.from({ length: 6 }, () => canary().replace(/\W/g, "x"));
export const ADDRESSES = {
  DATABASE_URL: `postgres://app:${ADDRESSED[0]}@db.example.com:5432/main`,
  REDIS_URL: `redis://:${ADDRESSED[1]}@cache.example.com:6379`,
  HOOK: `https://hooks.example.com/in?token=${ADDRESSED[2]}&page=2`,
  SIGNED: `https://files.example.com/a?sig=${ADDRESSED[3]}`,
  ODBC: `Server=db;User=app;Password=${ADDRESSED[4]};`,
  LIBPQ: `host=db user=app password=${ADDRESSED[5]}`,
};
const FLAGS = many("token api-key password secret auth-token client-secret");
const JOINED = many("access-token api_key db-pass private-key");
const ASSIGNED = many("DB_PASS SMTP_PASSWORD");
const ARGUMENT_URL = canary().replace(/\W/g, "x");
export const ARGS = [
  ...Object.entries(FLAGS).flatMap(([name, value]) => [`--${name}`, value]),
  ...Object.entries(JOINED).map(([name, value]) => `--${name}=${value}`),
  ...Object.entries(ASSIGNED).map(([name, value]) => `${name}=${value}`),
  `mysql://root:${ARGUMENT_URL}@db/main`,
];
/** Filled into arguments from the variables of the process. */
export const VARIABLES = many("MY_API_TOKEN MY_PASSWORD MY_SECRET");
export const HEADERS = { ...many("x-api-key x-auth-token cookie"), authorization: `Bearer ${canary()}` };
export const QUERY = many("api_key access_token");
export const SETTINGS = many("openai anthropic groq mistral");

export const CANARIES: readonly string[] = [
  ...[ENV, UNNAMED_ENV, FLAGS, JOINED, ASSIGNED, VARIABLES, QUERY, SETTINGS].flatMap((part) =>
    Object.values(part),
  ),
  ...Object.values(HEADERS).map((value) => value.replace("Bearer ", "")),
  ...ADDRESSED,
  ARGUMENT_URL,
];

/** The canaries that a text contains, in any encoding. */
export function leaksIn(text: string): string[] {
  return CANARIES.filter((secret) =>
    [
      secret,
      JSON.stringify(secret).slice(1, -1),
      encodeURIComponent(secret),
      Buffer.from(secret).toString("base64").replace(/=+$/, ""),
      Buffer.from(secret).toString("base64url"),
      Buffer.from(secret).toString("hex"),
    ].some((spelt) => text.includes(spelt)),
  );
}
