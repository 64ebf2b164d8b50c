import { problem } from "../../schema/problem.ts";
import type { OperationPlan, ParameterPlan } from "./operation-plan.ts";
import { writeBody } from "./write-body.ts";
import { writeForm, writeHeader } from "./write-parameter.ts";
import { fillTemplate } from "./write-path.ts";

/** The HTTP request of a call, without credentials. */
export interface ApiRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
  readonly body?: string | Uint8Array<ArrayBuffer>;
}

type Args = Readonly<Record<string, unknown>>;

/**
 * Builds the request of a call. No args can change the URL's origin or leave the operation's path.
 *
 * @throws `REQUEST_REFUSED` or `INVALID_PARAMS` for args that would
 */
export function buildRequest(plan: OperationPlan, args: Args, base: URL, op: string): ApiRequest {
  const given = (place: ParameterPlan["place"]) =>
    plan.parameters
      .filter((parameter) => parameter.place === place && Object.hasOwn(args, parameter.argument))
      .filter(({ argument }) => args[argument] !== null && args[argument] !== undefined)
      .map((parameter) => ({ parameter, value: args[parameter.argument] }));

  const path = `${base.pathname.replace(/\/+$/, "")}${fillTemplate(plan.path, plan.parameters, args, op)}`;
  const query = given("query").flatMap(({ parameter, value }) => writeForm(parameter, value));
  const url = new URL(`${base.origin}${path}${query.length > 0 ? `?${query.join("&")}` : ""}`);
  if (url.origin !== base.origin || url.pathname !== path) {
    throw problem("REQUEST_REFUSED", { where: base.host, reason: `the args change the path of ${op}` });
  }
  const body = plan.body && writeBody(plan.body, args);
  return {
    method: plan.method,
    url,
    headers: {
      ...Object.fromEntries(given("header").map(({ parameter, value }) => toHeader(parameter, value, op))),
      ...(body && { "content-type": body.contentType }),
    },
    cookies: given("cookie").flatMap(({ parameter, value }) => writeForm(parameter, value)),
    ...(body && { body: body.bytes }),
  };
}

function toHeader(parameter: ParameterPlan, value: unknown, op: string): [string, string] {
  const text = writeHeader(parameter, value);
  if (!/[^\t\x20-\x7e\x80-\xff]/.test(text)) return [parameter.name.toLowerCase(), text.trim()];
  const message = "has characters that a header cannot carry, such as line breaks";
  throw problem("INVALID_PARAMS", { name: op }, { field_errors: [{ field: parameter.argument, message }] });
}
