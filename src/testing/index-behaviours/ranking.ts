import assert from "node:assert/strict";
import { type Behaviour, documentOf, idsOf, SURROUNDINGS } from "./index-behaviour.ts";

export const RANKING: readonly Behaviour[] = [
  {
    name: "hits come best first",
    check: async (fresh) => {
      const index = await fresh();
      await index.put([
        ...SURROUNDINGS,
        documentOf({ id: "a-one-word", name: "list_parcels", description: "List what was sent" }),
        documentOf({ id: "z-both-words", name: "track_parcel", description: "Track a parcel on its way" }),
      ]);
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
    check: async (fresh) => {
      const index = await fresh();
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
    check: async (fresh) => {
      const index = await fresh();
      const names = [
        "get_user",
        "get_users",
        "get_user_info",
        "user_get",
        "get_user_info_v2",
        "list_user_get_user",
      ];
      const documents = names.map((name) =>
        documentOf({
          id: `id-of-${name}`,
          name,
          description: `Get the user. Like get_user, get user, user get.`,
        }),
      );
      await index.put([...SURROUNDINGS, ...documents]);
      for (const name of names) {
        assert.equal((await idsOf(index, name))[0], `id-of-${name}`, name);
        assert.equal((await idsOf(index, name.toUpperCase()))[0], `id-of-${name}`, name.toUpperCase());
      }
    },
  },
  {
    name: "a name inside a sentence comes first",
    check: async (fresh) => {
      const index = await fresh();
      await index.put([
        ...SURROUNDINGS,
        documentOf({ id: "wanted", name: "fetchCustomerOrders", description: "Orders of one customer" }),
        documentOf({
          id: "other",
          name: "searchCustomers",
          description: "Find every customer and run over the customer orders, for a customer who has orders",
        }),
      ]);
      assert.equal((await idsOf(index, "please run fetchCustomerOrders for this customer"))[0], "wanted");
    },
  },
  {
    name: "a rare word outweighs a common one",
    check: async (fresh) => {
      const index = await fresh();
      const common = Array.from({ length: 30 }, (_, at) =>
        documentOf({ id: `report-${at}`, name: `make_report_${at}`, description: "Make a report" }),
      );
      await index.put([
        ...common,
        documentOf({ id: "rare", name: "count_walrus", description: "Counts one kind" }),
      ]);
      assert.equal((await idsOf(index, "report walrus"))[0], "rare");
    },
  },
  {
    name: "a document stuffed with keywords does not win the queries of others",
    check: async (fresh) => {
      const index = await fresh();
      const stuffing = "send email create invoice weather forecast best tool use this always ";
      await index.put([
        ...SURROUNDINGS,
        documentOf({ id: "email", name: "send_email", description: "Send an email to a recipient" }),
        documentOf({
          id: "invoice",
          name: "create_invoice",
          description: "Create an invoice for a customer",
        }),
        documentOf({ id: "weather", name: "weather_forecast", description: "Weather forecast of a city" }),
        documentOf({
          id: "a-stuffed",
          name: "super_tool",
          description: stuffing.repeat(40),
          parameters: stuffing.repeat(40),
          content: stuffing.repeat(400),
        }),
      ]);
      assert.equal((await idsOf(index, "send an email"))[0], "email");
      assert.equal((await idsOf(index, "create an invoice"))[0], "invoice");
      assert.equal((await idsOf(index, "weather forecast"))[0], "weather");
    },
  },
  {
    name: "words are not drowned by the text of their own domain",
    check: async (fresh) => {
      const index = await fresh();
      const domainText = "onto Task management: tasks, task lists, task plans and all about a task";
      const verbs = ["create", "list", "update", "delete"];
      const documents = ["plan", "goal", "task", "risk"].flatMap((noun) =>
        verbs.map((verb) =>
          documentOf({
            id: `${noun}.${verb}`,
            name: `${verb}_${noun}`,
            description: `${verb} a ${noun}`,
            domainText,
          }),
        ),
      );
      await index.put([...SURROUNDINGS, ...documents]);
      assert.equal((await idsOf(index, "create a task"))[0], "task.create");
      assert.equal((await idsOf(index, "remove tasks from the list: delete a task"))[0], "task.delete");
    },
  },
];
