import { useState } from "preact/hooks";
import type { AskWord, ServerChange, ShownTool } from "../../src/faces/http/endpoints/api-types.ts";
import { Action, Card, Code, Lane, Page, Shown, Text } from "../parts/basics.tsx";
import { exact, number, times, within } from "../parts/format.ts";
import { useServer } from "./use-server.ts";

type Save = (wanted: ServerChange) => Promise<void>;

export const WHEN: Readonly<Record<AskWord, string>> = {
  never: "never",
  destructive: "if it destroys",
  writes: "if it writes",
  always: "before each call",
};

interface AskChoiceProps {
  readonly label: string;
  readonly value: AskWord | undefined;
  /** The words for no rule. Without them, there has to be one. */
  readonly otherwise?: string;
  onChoose(when: AskWord | undefined): Promise<void>;
}

export function AskChoice({ label, value, otherwise, onChoose }: AskChoiceProps) {
  const [error, setError] = useState<string>();
  const choose = (chosen: string) =>
    onChoose(chosen === "" ? undefined : (chosen as AskWord)).then(
      () => setError(undefined),
      (failed: Error) => setError(failed.message),
    );
  return (
    <>
      <select
        aria-label={label}
        value={value ?? ""}
        onChange={({ currentTarget }) => void choose(currentTarget.value)}
      >
        {otherwise !== undefined && <option value="">{otherwise}</option>}
        {Object.entries(WHEN).map(([word, words]) => (
          <option key={word} value={word}>
            {words}
          </option>
        ))}
      </select>
      {error && (
        <span class="problem" role="alert">
          {error}
        </span>
      )}
    </>
  );
}

/** When a tool asks a person. */
export function AskOfTool({ tool, save }: { tool: ShownTool; save: Save | undefined }) {
  const { name, ask, askByPattern } = tool;
  const otherwise = askByPattern ? `by a rule: ${WHEN[askByPattern]}` : "as the server's setting";
  if (!save) return <>as its config says</>;
  return (
    <AskChoice
      label={`When ${name} asks you`}
      value={ask}
      otherwise={otherwise}
      onChoose={(when) => save({ ask: { tool: name, ...(when && { when }) } })}
    />
  );
}

export function HideTool({ name, save }: { name: string; save: Save }) {
  return (
    <Action run={() => save({ hide: { tool: name, hidden: true } })} label={`Hide ${name}`}>
      Hide
    </Action>
  );
}

/** The page of one tool. */
export function OneTool({ id, name }: { id: string; name: string }) {
  const { loaded, label, figuresOf, save } = useServer(id);
  const tool = loaded.value?.tools.find((one) => one.name === name);
  const { calls = 0, failed = 0, ms } = (tool && figuresOf(tool.op)) ?? {};
  return (
    <Page
      title={name}
      lead={`A tool of ${label}.`}
      actions={
        <>
          <a class="button" href={`#/servers/${encodeURIComponent(id)}`}>
            All of {label}
          </a>
          {tool && (
            <a class="button" href={`#/search/${encodeURIComponent(tool.op)}`}>
              Try it
            </a>
          )}
          {tool && save && <HideTool name={name} save={save} />}
        </>
      }
    >
      <Shown of={loaded}>
        {({ rules }) =>
          !tool ? (
            <p class="problem">It is hidden, waits for your approval, or the server no longer offers it.</p>
          ) : (
            <div class="stack">
              <Card>
                <p class="outside lines">{exact(tool.description)}</p>
                <dl class="facts">
                  <dt>Agents call it</dt>
                  <dd>
                    <Code>{exact(tool.op)}</Code>
                  </dd>
                  <dt>Does</dt>
                  <dd>
                    <Lane lane={tool.lane} />
                  </dd>
                  <dt>Tokens</dt>
                  <dd>{number(tool.tokens)} in the list of a client</dd>
                  <dt>In 30 days</dt>
                  <dd>
                    {times(calls, "call")}, {number(failed)} failed
                    {ms && `, half within ${within(ms.half)}, 95 % within ${within(ms.most)}`}
                  </dd>
                  <dt>Asks you</dt>
                  <dd>
                    <AskOfTool tool={tool} save={save} />
                  </dd>
                  {save && rules && (
                    <>
                      <dt>Name</dt>
                      <dd>
                        <Rename tool={name} name={rules.names[name] ?? ""} save={save} />
                      </dd>
                    </>
                  )}
                </dl>
              </Card>
              <Card title="Parameters">
                <Text label={`Parameters of ${name}`}>{exact(tool.parameters)}</Text>
              </Card>
            </div>
          )
        }
      </Shown>
    </Page>
  );
}

function Rename({ tool, name, save }: { tool: string; name: string; save: Save }) {
  const [text, setText] = useState(name);
  return (
    <>
      <input
        type="text"
        aria-label={`Another name for ${tool}`}
        placeholder={tool}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />{" "}
      {text !== name && <Action run={() => save({ rename: { tool, name: text } })}>Rename</Action>}
    </>
  );
}
