import { createRemoteJWKSet, jwtVerify } from "jose";
import { expect, test } from "vitest";
import { startIssuer } from "./issuer.ts";

const AUDIENCE = "http://127.0.0.1:9/mcp";

test("the issuer logs a person in, and its token names audience, person and groups", async () => {
  await using issuer = await issuerOf();
  const token = await issuer.accessToken("ada", AUDIENCE);
  const { payload } = await jwtVerify(token, createRemoteJWKSet(new URL(`${issuer.url}/jwks`)), {
    issuer: issuer.url,
    audience: AUDIENCE,
  });
  expect(payload).toMatchObject({
    sub: "ada",
    groups: ["sre"],
    scope: expect.stringContaining("keyhole:write"),
  });
});

test("a rotated key is published alone, and clients stay registered", async () => {
  await using issuer = await issuerOf();
  const old = await issuer.accessToken("ada", AUDIENCE);
  await issuer.rotate();
  const keys = createRemoteJWKSet(new URL(`${issuer.url}/jwks`));
  await expect(jwtVerify(old, keys)).rejects.toThrow();
  const { payload } = await jwtVerify(await issuer.accessToken("bob", AUDIENCE), keys);
  expect(payload.sub).toBe("bob");
});

test("a token is exchanged for one of another audience", async () => {
  await using issuer = await issuerOf();
  const subject = await issuer.accessToken("ada", AUDIENCE);
  const response = await fetch(`${issuer.url}/token`, {
    method: "POST",
    headers: { authorization: `Basic ${btoa("keyhole:secret")}` },
    body: new URLSearchParams({
      grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
      subject_token: subject,
      subject_token_type: "urn:ietf:params:oauth:token-type:access_token",
      audience: "http://127.0.0.1:9/tracker",
    }),
  });
  const { access_token } = (await response.json()) as { access_token: string };
  const { payload } = await jwtVerify(access_token, createRemoteJWKSet(new URL(`${issuer.url}/jwks`)));
  expect(payload).toMatchObject({ sub: "ada", aud: "http://127.0.0.1:9/tracker", groups: ["sre"] });
});

async function issuerOf() {
  const issuer = await startIssuer({
    clients: [
      {
        client_id: "keyhole",
        client_secret: "secret",
        grant_types: ["urn:ietf:params:oauth:grant-type:token-exchange"],
        response_types: [],
        redirect_uris: [],
      },
    ],
  });
  return { ...issuer, [Symbol.asyncDispose]: () => issuer.close() };
}
