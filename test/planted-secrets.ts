/** Made-up secrets in the formats of their issuers. They are assembled at run time so that repository
 * scanners do not report this file as a leak. */
const letters = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6lM9oR2uX5";
const hex = "0123456789abcdef0123456789abcdef0123456789abcdef";
const take = (count: number) => letters.repeat(3).slice(0, count);
const plant = (secret: string, written = secret) => ({ secret, written });

export const PLANTED: Readonly<Record<string, { readonly secret: string; readonly written: string }>> = {
  "OpenAI key": plant(`sk-${take(40)}`),
  "OpenAI project key": plant(`sk-proj-${take(60)}`),
  "Anthropic key": plant(`sk-ant-api03-${take(60)}`),
  "GitHub token": plant(`ghp_${take(36)}`),
  "GitHub app token": plant(`ghs_${take(36)}`),
  "GitHub fine-grained token": plant(`github_pat_${take(60)}`),
  "GitLab token": plant(`glpat-${take(20)}`),
  "Slack token": plant(`xoxb-${"1234567890-".repeat(2)}${take(24)}`),
  "Slack webhook": plant(
    `T0000/B0000/${take(24)}`,
    `https://hooks.slack.com/services/T0000/B0000/${take(24)}`,
  ),
  "AWS key id": plant(`AKIA${"ABCDEFGH23456789"}`),
  "AWS secret key": plant(take(40), `AWS_SECRET_ACCESS_KEY=${take(40)}`),
  "Google key": plant(`AIza${take(35)}`),
  "Google access token": plant(`ya29.${take(40)}`),
  "Google client secret": plant(`GOCSPX-${take(28)}`),
  "Stripe key": plant(`sk_${"live"}_${take(24)}`),
  "Stripe webhook secret": plant(`whsec_${take(32)}`),
  "Twilio key": plant(`SK${hex.slice(0, 32)}`),
  "SendGrid key": plant(`SG.${take(22)}.${take(43)}`),
  "npm token": plant(`npm_${take(36)}`),
  "PyPI token": plant(`pypi-${take(60)}`),
  "Docker token": plant(`dckr_pat_${take(27)}`),
  "Hugging Face token": plant(`hf_${"abcdefghijklmnopqrstuvwxyzABCDEFGH"}`),
  "DigitalOcean token": plant(`dop_v1_${hex}`),
  "Shopify token": plant(`shpat_${hex.slice(0, 32)}`),
  "Telegram token": plant(`123456789:${take(35)}`),
  "Databricks token": plant(`dapi${hex.slice(0, 32)}`),
  "Linear key": plant(`lin_api_${take(40)}`),
  "Vault token": plant(`hvs.${take(28)}`),
  "Groq key": plant(`gsk_${take(48)}`),
  "JSON Web Token": plant(`eyJ${take(20)}.eyJ${take(30)}.${take(40)}`),
  "private key": plant(
    `MIIE${take(60)}`,
    `-----BEGIN RSA PRIVATE ${"KEY"}-----\nMIIE${take(60)}\n-----END RSA PRIVATE KEY-----`,
  ),
  "bearer header": plant(take(30), `Authorization: Bearer ${take(30)}`),
  "basic header": plant("dXNlcjpwYXNzd29yZDEyMw==", "authorization: Basic dXNlcjpwYXNzd29yZDEyMw=="),
  "password in a URL": plant("p4ssw0rd-x", "postgres://app:p4ssw0rd-x@db.example.com/main"),
  "Azure storage key": plant(`${take(44)}==`, `AccountName=a;AccountKey=${take(44)}==;`),
  "assigned password": plant("hunter2hunter2", 'password: "hunter2hunter2"'),
  "assigned key in JSON": plant("k3y-of-somebody", '{"client_secret":"k3y-of-somebody"}'),
};
