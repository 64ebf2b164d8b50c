import { type ApprovalRequest, createGateway } from "keyhole";
import { afterAll, expect, test } from "vitest";
import { faceApiOf } from "../src/gateway/face-api.ts";
import { createShop, writer } from "./run-kit.ts";

const { domain, log } = createShop();
const gateway = createGateway({ domains: [domain], principal: writer });
afterAll(() => gateway.close());

test("T22: a question has the arguments that stand in an address, whoever asks it", async () => {
  const input = { op: "shop.order.pay?id=2" };
  const asked: ApprovalRequest[] = [];
  const approve = (question: ApprovalRequest) => {
    asked.push(question);
    return true;
  };
  expect(await gateway.exec(input, { approve })).toMatchObject({ ok: true, result: { paid: 2 } });
  const [decision] = await faceApiOf(gateway).decide("exec", input);
  expect(asked).toMatchObject([{ args: { id: 2 } }]);
  expect(decision).toMatchObject({ do: "ask", question: { args: { id: 2 }, hash: asked[0]!.hash } });
  expect(log).toEqual(["pay 2"]);
});
