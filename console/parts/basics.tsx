import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Lane as LaneOfTool } from "../../src/core/nouns/entry.ts";

/** A page with its heading. */
export function Page({
  title,
  lead,
  actions,
  children,
}: {
  title: string;
  lead: string;
  actions?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <>
      <header class="page-head">
        <div>
          <h1 tabIndex={-1}>{title}</h1>
          <p class="lead">{lead}</p>
        </div>
        {actions && <div class="actions">{actions}</div>}
      </header>
      {children}
    </>
  );
}

/** A part of a page. */
export function Card({
  title,
  aside,
  children,
  class: name = "",
}: {
  title?: ComponentChildren;
  aside?: ComponentChildren;
  children: ComponentChildren;
  class?: string;
}) {
  return (
    <section class={`card ${name}`}>
      {(title || aside) && (
        <div class="card-head">
          {title && <h2>{title}</h2>}
          {aside && <div class="aside">{aside}</div>}
        </div>
      )}
      {children}
    </section>
  );
}

/** Tells the next step where there is nothing to show. */
export function Empty({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="empty">
      <svg viewBox="0 0 32 32" aria-hidden="true">
        <path d="M16 6.5a6 6 0 0 0-2.6 11.4L11.6 26h8.8l-1.8-8.1A6 6 0 0 0 16 6.5Z" />
      </svg>
      <p class="empty-title">{title}</p>
      <p>{children}</p>
    </div>
  );
}

/** Shows a value when it is there, and why it is not. */
export function Shown<T>({
  of,
  children,
}: {
  of: { value: T | undefined; error: string | undefined };
  children: (value: T) => ComponentChildren;
}) {
  if (of.value !== undefined) return <>{children(of.value)}</>;
  if (of.error) return <p class="problem">{of.error}</p>;
  return (
    <p class="quiet" aria-busy="true">
      Loading…
    </p>
  );
}

export type Tone = "good" | "bad" | "warn" | "plain" | "accent";

export function Badge({ tone = "plain", children }: { tone?: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

/** The effects that tools may have, in words for people. */
export const DOES: Readonly<Record<LaneOfTool, string>> = {
  read: "reads",
  write: "writes",
  destructive: "destroys",
};

/** The lane of a tool. Reading is the rule. */
export function Lane({ lane }: { lane: LaneOfTool }) {
  const tone = lane === "destructive" ? "bad" : lane === "write" ? "warn" : "good";
  return <Badge tone={tone}>{DOES[lane]}</Badge>;
}

/** An address of an entry or of anything else that a machine reads. */
export function Code({ children }: { children: ComponentChildren }) {
  return (
    <code class="address">
      <bdi>{children}</bdi>
    </code>
  );
}

export function Figure({ value, label, note }: { value: string; label: string; note?: string | undefined }) {
  return (
    <div class="figure">
      <span class="figure-label">{label}</span>
      <span class="figure-value">{value}</span>
      {note && <span class="figure-note">{note}</span>}
    </div>
  );
}

/** A button that works until its action has ended, and shows why it failed. */
export function Action({
  run,
  children,
  kind = "plain",
  label,
}: {
  run: () => Promise<unknown>;
  children: ComponentChildren;
  kind?: "plain" | "main" | "danger";
  label?: string;
}) {
  const [state, setState] = useState<{ busy: boolean; error?: string }>({ busy: false });
  const act = async () => {
    setState({ busy: true });
    try {
      await run();
      setState({ busy: false });
    } catch (error) {
      setState({ busy: false, error: (error as Error).message });
    }
  };
  return (
    <span class="action">
      <button type="button" class={`button ${kind}`} disabled={state.busy} onClick={act} aria-label={label}>
        {state.busy ? "…" : children}
      </button>
      {state.error && (
        <span class="problem" role="alert">
          {state.error}
        </span>
      )}
    </span>
  );
}

/** A field that narrows a list down. */
export function FilterField({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string;
  onChange: (text: string) => void;
}) {
  return (
    <label class="field inline">
      <span class="hidden">{label}</span>
      <input
        type="search"
        placeholder="filter"
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </label>
  );
}

/** Text of any length, as it is. */
export function Text({
  label,
  children,
  class: name = "",
}: {
  label: string;
  children: string;
  class?: string;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section class={`text ${name}`} aria-label={label} tabIndex={0}>
      <pre class="outside">{children}</pre>
    </section>
  );
}

/** A table, each row of which is a card on narrow screens: its cells have the words of the head as labels. */
export function Table({
  head,
  children,
  label,
}: {
  head: readonly string[];
  children: ComponentChildren;
  label: string;
}) {
  const body = useRef<HTMLTableSectionElement>(null);
  useLayoutEffect(() => {
    for (const { cells } of body.current?.rows ?? [])
      for (const [at, cell] of [...cells].entries()) cell.dataset.label = head[at] ?? "";
  });
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section class="table" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {head.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body}>{children}</tbody>
      </table>
    </section>
  );
}
