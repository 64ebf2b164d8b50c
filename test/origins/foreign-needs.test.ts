// Needs in languages without a table: found, or told in which language to ask.
import { createGateway } from "keyhole";
import { expect, onTestFinished, test } from "vitest";
import { FOREIGN_NEEDS } from "./foreign-needs.ts";
import { plannerDomains } from "./planner-tools.ts";

/** Letters that only languages without a table have. */
const UNREAD = /[åæøěřůőșță]|[^\p{Script=Latin}\s]/u;

test.each(Object.entries(FOREIGN_NEEDS))(
  "%s needs are found first, or told to be asked in English",
  async (_, needs) => {
    const gateway = createGateway({ domains: plannerDomains(), learning: false });
    onTestFinished(() => gateway.close());
    for (const [name, query] of Object.entries(needs)) {
      const { hits, text } = await gateway.ask({ query });
      const first = hits.find(({ entryPoint }) => !entryPoint)?.name;
      if (first === undefined)
        expect(text, query).toContain("this catalog is in English: ask in that language");
      else if (first !== name && UNREAD.test(query))
        expect(text, query).toContain("in English: if nothing fits");
    }
  },
);
