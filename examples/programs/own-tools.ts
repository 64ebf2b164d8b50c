// Own tools with zod: rules for each category, a policy, written examples, and an error that says what to do next.
import assert from "node:assert/strict";
import { createGateway, defineDomain, defineTool } from "keyhole";
import { z } from "zod";

const book = defineTool({
  name: "book_room",
  description: "Book a meeting room.",
  category: "booking",
  inputSchema: z.object({ room: z.enum(["oak", "elm"]), from: z.iso.time(), minutes: z.int().max(120) }),
  examples: [{ args: { room: "oak", from: "09:30:00", minutes: 45 } }],
  policy: { do: ["Look at the calendar first."], dont: ["Do not book more than two hours."] },
  execute: ({ room, from }) => ({ booked: `${room} at ${from}` }),
});
const calendar = defineTool({
  name: "list_bookings",
  description: "List the bookings of a day.",
  category: "calendar",
  execute: () => [{ room: "oak", from: "09:00" }],
});
const rooms = defineDomain({
  name: "rooms",
  description: "Meeting rooms of the office.",
  rules: { booking: "Rooms are free after 18:00.", calendar: "Times are local." },
  tools: [book, calendar],
});
const gateway = createGateway({ domains: [rooms], principal: { id: "ann", scopes: [], allowWrite: true } });

const found = await gateway.ask({ query: "book a room" });
assert.match(found.text, /Rooms are free after 18:00/); // the rules of the category come along
const help = await gateway.help({ path: "rooms.room.book", includeExamples: true });
assert.match(help.text, /"from":"09:30:00"/);
const wrong = await gateway.exec({
  op: "rooms.room.book",
  args: { room: "ash", from: "09:30:00", minutes: 45 },
});
assert.ok(!wrong.ok && wrong.error.code === "INVALID_PARAMS");
console.log([found.text, help.text, wrong.text].join("\n\n"));
await gateway.close();
