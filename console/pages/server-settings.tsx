import { useState } from "preact/hooks";
import type { AskWord, ServerChange, ServerRulesShown } from "../../src/faces/http/endpoints/api-types.ts";
import { Action, Card } from "../parts/basics.tsx";
import { exact } from "../parts/format.ts";
import { AskChoice, WHEN } from "./tool.tsx";

interface SettingsProps {
  readonly rules: ServerRulesShown;
  save(wanted: ServerChange): Promise<void>;
}

/** The part of a server's config that a person changes here. */
export function ServerSettings({ rules, save }: SettingsProps) {
  const { file, hidden, line } = rules;
  return (
    <Card title="Settings" aside={<span class="outside">{file}</span>}>
      {line !== undefined && <Program key={line} line={line} save={save} />}
      <Asking rules={rules} save={save} />
      {hidden.map((tool) => (
        <p key={tool}>
          <code class="outside">{exact(tool)}</code> is hidden from all agents.{" "}
          <Action run={() => save({ hide: { tool, hidden: false } })} label={`Show again ${tool}`}>
            Show again
          </Action>
        </p>
      ))}
    </Card>
  );
}

function Program({ line, save }: { line: string } & Pick<SettingsProps, "save">) {
  const [text, setText] = useState(line);
  return (
    <div class="filters">
      <label class="field grow">
        <span>Command or address</span>
        <input type="text" value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      {text !== line && (
        <Action kind="main" run={() => save({ edit: text })}>
          Save it: another program waits for your yes
        </Action>
      )}
    </div>
  );
}

/** When the server's tools ask: all of them by what they do, and some by their names. */
function Asking({ rules: { ask, asks }, save }: SettingsProps) {
  const [pattern, setPattern] = useState("");
  const [when, setWhen] = useState<AskWord | undefined>("always");
  const add = async () => {
    await save({ ask: { tool: pattern, ...(when && { when }) } });
    setPattern("");
  };
  return (
    <>
      <div class="filters">
        <div class="field">
          <span>Its tools ask you</span>
          <AskChoice
            label="When its tools ask you"
            value={asks}
            otherwise="as the gateway says: if they destroy"
            onChoose={(chosen) => save({ ask: { ...(chosen && { when: chosen }) } })}
          />
        </div>
        <label class="field">
          <span>A rule for tools named</span>
          <input
            type="text"
            value={pattern}
            placeholder="send_mail, or send_*"
            onInput={(event) => setPattern(event.currentTarget.value)}
          />
        </label>
        <div class="field">
          <span>They ask you</span>
          <AskChoice label="When they ask you" value={when} onChoose={async (chosen) => setWhen(chosen)} />
        </div>
        {pattern !== "" && <Action run={add}>Add the rule</Action>}
      </div>
      {Object.entries(ask).map(([tool, word]) => (
        <p key={tool}>
          <code class="outside">{exact(tool)}</code> asks you {WHEN[word]}.{" "}
          <Action run={() => save({ ask: { tool } })} label={`Remove the rule ${tool}`}>
            Remove
          </Action>
        </p>
      ))}
    </>
  );
}
