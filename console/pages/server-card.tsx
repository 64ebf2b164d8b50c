import { useState } from "preact/hooks";
import type { UpstreamsAnswer } from "../../src/faces/http/endpoints/api-types.ts";
import { attempt, post } from "../api.ts";
import { Action, Badge, Card, Text, type Tone } from "../parts/basics.tsx";
import { ago, exact, number, times } from "../parts/format.ts";

/** States in words for people. */
const STATES: Readonly<Record<string, readonly [words: string, tone: Tone]>> = {
  connected: ["runs", "good"],
  idle: ["sleeps until it is needed", "plain"],
  starting: ["is starting", "warn"],
  quarantined: ["waits for your yes", "warn"],
  needs_login: ["waits for a login", "warn"],
  server_down: ["failed", "bad"],
};
const PROTOCOLS: Readonly<Record<string, string>> = { modern: "2026-07-28", legacy: "2025-11-25 or older" };

export function State({ state }: { state: string }) {
  const [words, tone] = STATES[state] ?? [state, "plain"];
  return <Badge tone={tone}>{words}</Badge>;
}

/** The state of a server, and what a person may do about it. */
export function Server({ reload, ...server }: UpstreamsAnswer["upstreams"][number] & { reload: () => void }) {
  const { id, label } = server;
  const [login, setLogin] = useState<string>();
  const act = (path: string) => () => attempt(path, { id }).finally(reload);
  async function logIn(): Promise<void> {
    const { needed, url } = await post<{ needed: boolean; url?: string }>("/api/upstreams/login", { id });
    if (!needed || !url) throw new Error("It needs no login.");
    setLogin(url);
  }
  const [first = "", ...lines] = server.program.lines;
  return (
    <Card
      title={<State state={server.state} />}
      aside={
        <div class="actions">
          {server.needsConsent ? (
            <a class="button main" href="#/approvals">
              Look and decide
            </a>
          ) : (
            server.isUpstream && (
              <Action run={act("/api/upstreams/restart")} label={`Restart ${label}`}>
                Restart
              </Action>
            )
          )}
          {server.isHttp && server.isUpstream && (
            <>
              <Action run={logIn} label={`Log in to ${label}`}>
                Log in
              </Action>
              <Action run={act("/api/upstreams/logout")} label={`Log out of ${label}`}>
                Log out
              </Action>
            </>
          )}
        </div>
      }
    >
      {server.reason && !server.needsConsent && <p class="problem outside">{server.reason}</p>}
      {login && server.state !== "connected" && (
        <p>
          <a href={login} target="_blank" rel="noopener noreferrer">
            Open the login of {new URL(login).host}
          </a>
        </p>
      )}
      <dl class="facts">
        <dt>Program</dt>
        <dd>
          <details>
            <summary>
              <code class="outside">{exact(first)}</code>
            </summary>
            <Text label={`Program of ${label}`}>{exact(lines.join("\n"))}</Text>
          </details>
        </dd>
        <dt>Tools</dt>
        <dd>
          {times(server.tools, "tool")} in use, {number(server.tokens)} tokens if they were listed
          {server.unapproved > 0 && (
            <>
              ; <a href="#/approvals">{number(server.unapproved)} wait for your yes</a>
            </>
          )}
        </dd>
        <dt>Protocol</dt>
        <dd>{server.protocol ? (PROTOCOLS[server.protocol] ?? server.protocol) : "not connected now"}</dd>
        <dt>Listed</dt>
        <dd>
          {ago(server.listedAt)}
          {server.fromCache && ", from an earlier start"}
        </dd>
        <dt>Process</dt>
        <dd>
          {server.pid ? `process ${server.pid}, ` : ""}
          started {times(server.starts, "time")} lately; {times(server.running, "call runs", "calls run")},{" "}
          {times(server.waiting, "waits", "wait")}
        </dd>
      </dl>
      {server.warnings.map((warning) => (
        <p class="quiet small outside" key={warning}>
          {warning}
        </p>
      ))}
    </Card>
  );
}
