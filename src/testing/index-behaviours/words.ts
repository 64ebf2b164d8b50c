import assert from "node:assert/strict";
import { type Behaviour, documentOf, idsOf, SURROUNDINGS } from "./index-behaviour.ts";

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
    check: async (fresh) => {
      const index = await fresh();
      await index.put([
        ...SURROUNDINGS,
        documentOf({ id: "weather", name: "get_weather", description: "Weather forecast for a city" }),
        documentOf({ id: "parcel", name: "track_parcel", description: "Where a parcel is on its way" }),
      ]);
      assert.equal((await idsOf(index, "What is the weather going to be like in Paris?"))[0], "weather");
      assert.equal((await idsOf(index, "Could you please tell me where my parcel is?"))[0], "parcel");
    },
  },
];

/** Each name must be found by each of its queries, among all the others. */
function finds(cases: readonly (readonly [name: string, queries: readonly string[]])[]): Behaviour["check"] {
  return async (fresh) => {
    const index = await fresh();
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
