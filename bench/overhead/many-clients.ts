import type { Row } from "../benchmark.ts";
import type { EchoSystem } from "./echo-system.ts";

const CLIENTS = 1_000;

/** Calls from many clients at once, each with its own text: none may fail or get the text of another. */
export async function manyClients(connect: () => Promise<EchoSystem>, system: string): Promise<Row[]> {
  const clients = await Promise.all(Array.from({ length: CLIENTS }, connect));
  const answers = await Promise.allSettled(
    clients.map(async ({ echo }, index) => {
      const nonce = `nonce-${index}-${crypto.randomUUID()}`;
      return { nonce, answer: await echo(nonce) };
    }),
  );
  await Promise.all(clients.map((client) => client.close()));
  const failed = answers.filter(({ status }) => status === "rejected");
  if (failed[0]?.status === "rejected") console.error("first error:", failed[0].reason);
  const foreign = answers.filter(
    (outcome) => outcome.status === "fulfilled" && outcome.value.answer !== outcome.value.nonce,
  );
  const row = (metric: string, value: number, unit: string) => ({
    bench: "overhead",
    case: "http-1000",
    system,
    metric,
    value,
    unit,
  });
  return [row("errors", failed.length, "calls"), row("foreign_nonces", foreign.length, "calls")];
}
