import fc from "fast-check";
import { type DomainDefinition, defineTool, type Principal } from "keyhole";

const SCOPES = ["a", "b", "c"];
const WORDS = [
  "order",
  "page",
  "user",
  "list",
  "delete",
  "create",
  "report",
  "constructor",
  "__proto__",
  "toString",
  "weiß",
  "天气",
];

const word = fc.constantFrom(...WORDS);
const scopes = fc.subarray(SCOPES);
const name = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join("_"));
const sentence = fc.oneof(
  fc.array(word, { minLength: 1, maxLength: 40 }).map((words) => words.join(" ")),
  fc.string({ minLength: 1, maxLength: 300, unit: "grapheme" }).map((text) => `x${text}`),
);

/** Generates domains with tools of any visibility, lane and scopes. Names repeat and are hostile. */
export const randomDomains: fc.Arbitrary<DomainDefinition[]> = fc
  .array(
    fc.record({
      description: sentence,
      requiredScopes: scopes,
      tools: fc.array(
        fc.record({
          name,
          description: sentence,
          searchable: fc.constantFrom(true, false, undefined),
          requiredScopes: scopes,
          lane: fc.constantFrom("read" as const, "write" as const, "destructive" as const),
          properties: fc.dictionary(
            name,
            fc.constantFrom({ type: "string" }, { type: "integer" }, { enum: WORDS }),
          ),
        }),
        { maxLength: 12 },
      ),
    }),
    { minLength: 1, maxLength: 5 },
  )
  .map((domains) =>
    domains.map(({ tools, ...domain }, index) => ({
      ...domain,
      name: `d${index}`,
      tools: tools.map(({ properties, ...tool }, place) =>
        defineTool({
          ...tool,
          route: `d${index}://tools/${tool.name}/${place}`,
          inputSchema: { type: "object", properties },
          execute: () => "done",
        }),
      ),
    })),
  );

export const randomPrincipal: fc.Arbitrary<Principal> = fc.record({
  id: fc.constant("someone"),
  scopes,
  allowWrite: fc.constant(true),
});

export const randomQuery: fc.Arbitrary<string> = fc.oneof(sentence, name, fc.string());
