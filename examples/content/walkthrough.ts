// A folder of Markdown becomes documents: a question finds the passage, and the whole page can be read.
import assert from "node:assert/strict";
import { createGateway } from "keyhole";
import { heading, quote } from "../print.ts";
import { handbook } from "./handbook-domain.ts";

const gateway = createGateway({ domains: [handbook] });

heading("ask finds the section that answers, not only its file");
const found = await gateway.ask({ query: "receipts paid back" });
assert.equal(found.hits[0]?.route, "handbook://resources/pages/travel-md/expenses");
quote(found.text);

heading("get reads the section");
const [section] = (await gateway.get({ routes: [{ route: found.hits[0].route }] })).results;
assert.ok(section?.ok);
assert.match(String(section.data.content), /within thirty days/);
quote(String(section.data.content));

heading("get also reads the whole page, or any heading of it");
const whole = await gateway.get({
  routes: [
    { route: "handbook://resources/pages/travel-md" },
    { route: "handbook://resources/pages/travel-md/booking/flights" },
    { route: "handbook://resources/pages/guides/on-call-md/handover" },
  ],
});
assert.equal(whole.summary.succeeded, 3);
quote(whole.text);

await gateway.close();
