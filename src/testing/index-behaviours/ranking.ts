import assert from "node:assert/strict";
import { type Behaviour, bestIs, documentOf, idsOf, SURROUNDINGS } from "./index-behaviour.ts";

const STUFFING = "send email create invoice weather forecast best tool use this always ";
const DOMAIN_TEXT = "onto Task management: tasks, task lists, task plans and all about a task";

export const RANKING: readonly Behaviour[] = [
  {
    name: "hits come best first",
    documents: [
      ...SURROUNDINGS,
      documentOf({ id: "a-one-word", name: "list_parcels", description: "List what was sent" }),
      documentOf({ id: "z-both-words", name: "track_parcel", description: "Track a parcel on its way" }),
    ],
    check: async (index) => {
      const hits = await index.search({ query: "track parcel", limit: 10, filter: { scopes: [] } });
      assert.equal(hits[0]?.id, "z-both-words");
      assert.ok(hits.some(({ id }) => id === "a-one-word"));
      for (const [at, hit] of hits.entries()) {
        assert.ok(Number.isFinite(hit.score));
        assert.ok(at === 0 || hits[at - 1]!.score >= hit.score, "scores do not rise");
      }
    },
  },
  {
    name: "ties go by id, and the limit cuts after that",
    check: async (index) => {
      const ids = ["m", "b", "z", "a", "q", "B", "c/d", "c"];
      await index.put(ids.map((id) => documentOf({ id, name: "walrus", description: "the same" })));
      const expected = [...ids].sort();
      assert.deepEqual(await idsOf(index, "walrus"), expected);
      assert.deepEqual(await idsOf(index, "walrus", {}, 3), expected.slice(0, 3));
      assert.deepEqual(await idsOf(index, "walrus", {}, 1), expected.slice(0, 1));
      assert.deepEqual(await idsOf(index, "walrus", {}, 0), []);
    },
  },
  {
    name: "an exact name comes first among near duplicates",
    check: async (index) => {
      const names = "get_user get_users get_user_info user_get get_user_info_v2 list_user_get_user".split(
        " ",
      );
      const description = "Get the user. Like get_user, get user, user get.";
      await index.put(SURROUNDINGS);
      await index.put(names.map((name) => documentOf({ id: `id-of-${name}`, name, description })));
      for (const name of names) {
        assert.equal((await idsOf(index, name))[0], `id-of-${name}`, name);
        assert.equal((await idsOf(index, name.toUpperCase()))[0], `id-of-${name}`, name.toUpperCase());
      }
    },
  },
  {
    name: "a name inside a sentence comes first",
    documents: [
      ...SURROUNDINGS,
      documentOf({ id: "wanted", name: "fetchCustomerOrders", description: "Orders of one customer" }),
      documentOf({
        id: "other",
        name: "searchCustomers",
        description: "Find every customer and run over the customer orders, for a customer who has orders",
      }),
    ],
    check: bestIs({ "please run fetchCustomerOrders for this customer": "wanted" }),
  },
  {
    name: "a rare word outweighs a common one",
    documents: [
      ...Array.from({ length: 30 }, (_, at) =>
        documentOf({ id: `report-${at}`, name: `make_report_${at}`, description: "Make a report" }),
      ),
      documentOf({ id: "rare", name: "count_walrus", description: "Counts one kind" }),
    ],
    check: bestIs({ "report walrus": "rare" }),
  },
  {
    name: "a document stuffed with keywords does not win the queries of others",
    documents: [
      ...SURROUNDINGS,
      documentOf({ id: "email", name: "send_email", description: "Send an email to a recipient" }),
      documentOf({ id: "invoice", name: "create_invoice", description: "Create an invoice for a customer" }),
      documentOf({ id: "weather", name: "weather_forecast", description: "Weather forecast of a city" }),
      documentOf({
        id: "a-stuffed",
        name: "super_tool",
        description: STUFFING.repeat(40),
        parameters: STUFFING.repeat(40),
        content: STUFFING.repeat(400),
      }),
    ],
    check: bestIs({
      "send an email": "email",
      "create an invoice": "invoice",
      "weather forecast": "weather",
    }),
  },
  {
    name: "words are not drowned by the text of their own domain",
    documents: [
      ...SURROUNDINGS,
      ...["plan", "goal", "task", "risk"].flatMap((noun) =>
        ["create", "list", "update", "delete"].map((verb) =>
          documentOf({
            id: `${noun}.${verb}`,
            name: `${verb}_${noun}`,
            description: `${verb} a ${noun}`,
            domainText: DOMAIN_TEXT,
          }),
        ),
      ),
    ],
    check: bestIs({
      "create a task": "task.create",
      "remove tasks from the list: delete a task": "task.delete",
    }),
  },
];

export const WORDS: readonly Behaviour[] = [
  {
    name: "names are found by their words",
    check: finds([
      ["createSalesInvoice", ["sales", "create sales invoice", "invoice"]],
      ["list_open_tickets", ["tickets", "open tickets", "list-open-tickets"]],
      ["delete-old-backups", ["backups", "old backups", "deleteOldBackups"]],
      ["XMLSchemaParser", ["schema", "xml", "xml schema parser"]],
      ["files.search", ["files", "search files"]],
    ]),
  },
  {
    name: "case and accents do not matter",
    check: finds([
      ["Überweisung anlegen", ["uberweisung", "ÜBERWEISUNG", "überweisung"]],
      ["café finder", ["cafe", "CAFÉ", "cafe\u0301"]],
      ["naïve résumé", ["naive resume", "NAÏVE"]],
      ["weatherReport", ["WEATHER", "Weather report", "ＷＥＡＴＨＥＲ"]],
    ]),
  },
  {
    name: "plural and singular find each other",
    check: finds([
      ["make_invoice", ["invoices"]],
      ["show_tickets", ["ticket"]],
      ["sort_categories", ["category"]],
      ["pack_boxes", ["box"]],
    ]),
  },
  {
    name: "text without spaces is found by a part of it",
    check: finds([
      ["查询指定城市的天气预报", ["天气", "天气预报", "城市"]],
      ["創建新的請求書", ["請求書"]],
      ["請求書を作成する", ["作成する"]],
      ["날씨예보를 조회합니다", ["날씨", "조회"]],
    ]),
  },
  {
    name: "other scripts are found by their words",
    check: finds([
      ["погода завтра", ["ПОГОДА", "погода"]],
      ["καιρός αύριο", ["καιρος", "ΚΑΙΡΟΣ"]],
      ["حالة الطقس", ["الطقس"]],
      ["मौसम की जानकारी", ["मौसम"]],
    ]),
  },
  {
    name: "a near name finds it: a typo or a beginning",
    check: finds([
      ["calendar_create_event", ["calender", "calend"]],
      ["weather_forecast", ["wether", "weahter", "forec"]],
      ["subscription_cancel", ["subscripton", "subscr"]],
    ]),
  },
  {
    name: "a question in plain words finds the tool",
    documents: [
      ...SURROUNDINGS,
      documentOf({ id: "weather", name: "get_weather", description: "Weather forecast for a city" }),
      documentOf({ id: "parcel", name: "track_parcel", description: "Where a parcel is on its way" }),
    ],
    check: bestIs({
      "What is the weather going to be like in Paris?": "weather",
      "Could you please tell me where my parcel is?": "parcel",
    }),
  },
];

/** Each name must be found by each of its queries, among all the others. */
function finds(cases: readonly (readonly [name: string, queries: readonly string[]])[]): Behaviour["check"] {
  return async (index) => {
    const documents = cases.map(([name], at) => documentOf({ id: `wanted-${at}`, name }));
    await index.put([...SURROUNDINGS, ...documents]);
    for (const [at, [name, queries]] of cases.entries()) {
      for (const query of queries) {
        const found = await idsOf(index, query);
        assert.ok(found.includes(`wanted-${at}`), `"${query}" finds "${name}", not only ${found.join(", ")}`);
      }
    }
  };
}
