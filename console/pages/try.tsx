import { useEffect, useState } from "preact/hooks";
import type { Hit } from "../../src/core/answers/hit.ts";
import { post } from "../api.ts";
import { Badge, Card, Code, Lane, Text } from "../parts/basics.tsx";
import { number, pretty } from "../parts/format.ts";
import { type Schema, SchemaForm, toArgs, type Values } from "../parts/schema-form.tsx";

interface Help {
  readonly schema?: Schema;
  readonly summary: string;
  readonly usage: string;
  readonly tokens: number;
  readonly examples?: readonly { readonly args: Readonly<Record<string, unknown>> }[];
}

interface TryProps {
  readonly hit: Hit;
  readonly as: string;
  /** As another caller everything runs dry. */
  readonly isSelf: boolean;
  readonly mayWrite: boolean;
}

interface Outcome {
  readonly ok: boolean;
  readonly text: string;
  readonly tokens: number;
}

/** Runs a read of one's own, or anything else dry, from a form that is made of the schema. */
export function Try({ hit, as, isSelf, mayWrite }: TryProps) {
  const [help, setHelp] = useState<Help>();
  const [values, setValues] = useState<Values>({});
  const [outcome, setOutcome] = useState<Outcome & { readonly how: string }>();
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const speaker = `?as=${encodeURIComponent(as)}`;

  useEffect(() => {
    post<Help>(`/api/help${speaker}`, { path: hit.route, include_schemas: true }).then(
      setHelp,
      (failed: Error) => setError(failed.message),
    );
  }, [hit.route, as]);

  const isRead = hit.lane === "read" && isSelf;
  async function run(): Promise<void> {
    setBusy(true);
    setError(undefined);
    try {
      const args = toArgs(help?.schema, values);
      const made = isRead
        ? await post<Outcome>(`/api/get${speaker}`, { routes: [{ route: hit.route, params: args }] })
        : await post<Outcome>(`/api/exec${speaker}`, { route: hit.route, args, dry_run: true });
      setOutcome({ ...made, how: isRead ? "Read" : "Dry run" });
    } catch (failed) {
      setError((failed as Error).message);
    }
    setBusy(false);
  }

  const example = help?.examples?.[0]?.args;
  return (
    <Card title={isRead ? "Try it" : "Try it dry"} aside={<Lane lane={hit.lane} />}>
      <p>
        <Code>{hit.route}</Code>
      </p>
      <p class="quiet small outside">{help?.summary}</p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        <SchemaForm schema={help?.schema} values={values} onChange={setValues} />
        <div class="actions">
          <button type="submit" class="button main" disabled={isBusy || !help}>
            {isRead ? "Read" : "Dry run"}
          </button>
          {example && Object.keys(example).length > 0 && (
            <button type="button" class="button" onClick={() => setValues({ ...example })}>
              Fill in the example
            </button>
          )}
          {!isRead && (
            <span class="quiet small">
              Nothing changes. {mayWrite ? "" : "This caller may not write anyway."}
            </span>
          )}
        </div>
      </form>
      {error && (
        <p class="problem" role="alert">
          {error}
        </p>
      )}
      {outcome && (
        <div class="outcome" role="status">
          <p>
            <Badge tone={outcome.ok ? "good" : "bad"}>{outcome.ok ? outcome.how : "Refused"}</Badge>{" "}
            <span class="quiet small">{number(outcome.tokens)} tokens for the model</span>
          </p>
          <Text label="The outcome">{pretty(outcome.text)}</Text>
        </div>
      )}
    </Card>
  );
}
