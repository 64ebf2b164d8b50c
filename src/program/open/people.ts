import { z } from "zod";
import { readPart } from "../../base/json-schema/zod-mistakes.ts";
import { type Problem, problem } from "../../base/problems/problem.ts";
import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { mapTexts } from "../../base/util/plain-object.ts";
import type { Principal } from "../../core/nouns/principal.ts";
import type { ConsoleLogin } from "../../faces/http/console-login.ts";
import { ADMIN_SCOPE } from "../../faces/http/endpoints/endpoint.ts";
import { type OAuthOptions, personId } from "../../faces/mcp/bearer.ts";
import { createIssuer } from "../../faces/mcp/issuer.ts";
import type { ServedProfiles } from "../../faces/mcp/profiles.ts";
import { expandVariables, type LaunchVariables } from "../../sources/mcp/config/to-launch.ts";
import { reasonWhy } from "../clients/edit-config.ts";
import { type PeopleGroup, type PeopleSettings, peopleSchema } from "./settings-schema.ts";

/** Every OpenID Connect issuer knows it, and some refuse a login that asks for nothing. */
const SCOPES = ["openid"];
const GROUPS = "groups";
/** The group of people that are in none of the others. */
const ANYBODY = "*";

/**
 * Reads the people of a config, with its variables filled in.
 *
 * @throws CONFIG_INVALID
 */
export function readPeople(
  given: unknown,
  path: string,
  variables: LaunchVariables,
): PeopleSettings | undefined {
  if (given === undefined) return undefined;
  const step = "Correct people in it: docs/team.md has an example.";
  const wrong = (reason: string) => problem("CONFIG_INVALID", { path, reason, step });
  const fill = (value: string) => {
    try {
      return expandVariables("people", value, variables);
    } catch (error) {
      throw wrong(`people: ${reasonWhy(error)}`);
    }
  };
  return readPart(peopleSchema, mapTexts(given, fill), (mistakes) => wrong(`people: ${mistakes}`));
}

/** How the server checks the tokens of these people. */
export function toOAuth(people: PeopleSettings): OAuthOptions {
  const { issuer, audience, scopes = SCOPES, clockTolerance } = people;
  return {
    issuer,
    audience,
    askedScopes: scopes,
    ...(clockTolerance !== undefined && { clockTolerance }),
    toPrincipal: (claims) => toPrincipal(people, claims),
  };
}

/** How these people open the console. Undefined: by one-time links. */
export function toLogin(people: PeopleSettings): ConsoleLogin | undefined {
  const { issuer, audience, scopes = SCOPES, groupsClaim = GROUPS, console: client } = people;
  return (
    client && {
      issuer,
      clientId: client.clientId,
      ...(client.clientSecret !== undefined && { clientSecret: client.clientSecret }),
      origin: new URL(audience).origin,
      scopes,
      claims: ["sub", groupsClaim],
      toPrincipal: (claims) => toPrincipal(people, claims),
    }
  );
}

/**
 * The rights of a person: those of the first group in the order of the config. Scopes of the token give nothing,
 * because any client may ask the issuer for them.
 *
 * @throws NOT_ADMITTED for people of no such group, and for a claim that is no list of texts.
 */
export function toPrincipal(people: PeopleSettings, claims: Readonly<Record<string, unknown>>): Principal {
  const { issuer, groups, groupsClaim = GROUPS } = people;
  const id = personId(issuer, claims.sub);
  const isClaimed = Object.hasOwn(claims, groupsClaim);
  const claimed = z.array(z.string()).safeParse(isClaimed ? claims[groupsClaim] : []).data;
  if (!claimed)
    throw problem("NOT_ADMITTED", { person: id, reason: `the claim ${groupsClaim} is no list of texts` });
  const row = rowOf(groups, claimed);
  if (!row) throw problem("NOT_ADMITTED", { person: id, reason: "none of your groups has rights here" });
  return { id, ...rightsOf(row) };
}

function rowOf(groups: PeopleSettings["groups"], claimed: readonly string[]) {
  const first = Object.keys(groups).find((name) => name !== ANYBODY && claimed.includes(name));
  return Object.hasOwn(groups, first ?? ANYBODY) ? groups[first ?? ANYBODY] : undefined;
}

function rightsOf({ profile, write = false, admin = false, scopes = [] }: PeopleGroup) {
  return {
    scopes: [...scopes, ...(admin ? [ADMIN_SCOPE] : [])],
    allowWrite: write,
    ...(profile !== undefined && { profile }),
  };
}

/** One principal for each group, for somebody who looks at the gateway as its people see it. */
export function groupPrincipals({ groups }: PeopleSettings): Principal[] {
  return Object.entries(groups).map(([name, row]) => ({ id: `group:${name}`, ...rightsOf(row) }));
}

/** Tells what would keep people out: an issuer that cannot be used, and groups whose profile is missing. */
export function tellObstacles(people: PeopleSettings, profiles: ServedProfiles): void {
  createIssuer(people)
    .metadata()
    .catch((error: Problem) => console.error(toVisibleLine(`${error.message} ${error.next}`)));
  for (const { id, profile } of groupPrincipals(people))
    if (profile !== undefined && !profiles.names().includes(profile))
      console.error(
        toVisibleLine(
          `${id} has the profile ${profile}, which is not in the config: its people are refused.`,
        ),
      );
}
