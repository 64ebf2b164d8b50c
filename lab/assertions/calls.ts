import type { Assertion, Finding, Seen } from "../finding.ts";
import { FAILURE, LOGO } from "../reports.ts";
import { messages } from "../step-seen.ts";
import { pictureIn } from "../tool-results.ts";

/** The calls as a model reads them. */
export const callAssertions: readonly Assertion[] = [
  {
    name: "ask",
    title: "text of an answer",
    scenario: "tour",
    check: (seen) => textFinding(seen, "ask"),
  },
  {
    name: "text",
    title: "text of a result",
    scenario: "tour",
    check: (seen) => textFinding(seen, "text"),
  },
  {
    name: "unknown-field",
    title: "`wait_for_previous` of a model",
    scenario: "tour",
    check: ({ step }) => {
      const { sent, isError } = step("text");
      const isForwarded = sent?.wait_for_previous !== undefined;
      return {
        ok: sent !== undefined && !isError,
        fact: isForwarded ? "forwarded, and ignored" : "not forwarded",
      };
    },
  },
  {
    name: "error",
    title: "error of a tool",
    scenario: "tour",
    check: (seen) => {
      const { read, isError } = seen.step("failure");
      // Some clients repeat the text of an error by themselves.
      return { ...textFinding(seen, "failure"), ok: isError && count(read?.text ?? "", FAILURE) >= 1 };
    },
  },
  {
    name: "image",
    title: "picture of a tool",
    scenario: "tour",
    check: ({ observed }) => {
      const found = observed.requests.map((body) => pictureIn(body, LOGO));
      if (found.includes("text")) return { ok: false, fact: "read as base64 text" };
      return {
        ok: true,
        fact: found.includes("picture") ? "seen as a picture" : "not seen; the text names it",
      };
    },
  },
  {
    name: "rows",
    title: "rows that do not fit into an answer",
    scenario: "tour",
    check: (seen) => {
      const finding = textFinding(seen, "ledger");
      const { read } = seen.step("ledger");
      const hasHandle = /of 600 items.*result:\/\//.test(read?.text ?? "");
      return { ...finding, ok: finding.ok && hasHandle };
    },
  },
  {
    name: "rest",
    title: "question about the rows, by their handle",
    scenario: "tour",
    check: ({ step }) => {
      const text = step("rest").read?.text ?? "";
      const isAnswered = /Zürich\D+200/.test(text);
      return { ok: isAnswered, fact: isAnswered ? "answered" : "not answered" };
    },
  },
  {
    name: "surrogate",
    title: "half a character in a result",
    scenario: "tour",
    check: (seen) => {
      const { rendered } = seen.step("surrogate");
      const finding = textFinding(seen, "surrogate");
      return {
        ok: finding.ok && rendered.isWellFormed(),
        fact: finding.ok ? "arrives as its code" : finding.fact,
      };
    },
  },
  {
    name: "approval",
    title: "call that a person must approve, with nobody there",
    scenario: "tour",
    check: ({ observed, step }) => {
      const { read, sent } = step("confirm");
      const code = /APPROVAL_[A-Z]+/.exec(read?.text ?? "")?.[0];
      const fact =
        sent === undefined
          ? "the client refuses the call itself"
          : `${actionOf(observed)}; the model reads ${code}`;
      return { ok: code !== undefined && !/are closed/.test(read?.text ?? ""), fact };
    },
  },
  {
    name: "refusal",
    title: "call that the caller may not make",
    scenario: "hung",
    check: ({ step }) => {
      const text = step("refused").read?.text ?? "";
      const code = /[A-Z]+_DENIED/.exec(text)?.[0];
      return {
        ok: code !== undefined && !text.includes("is deleted"),
        fact: `the model reads ${code ?? "nothing of it"}`,
      };
    },
  },
];

/** Compares the text that a model reads with the text that Keyhole rendered. */
function textFinding({ step, countTokens }: Seen, id: string): Finding {
  const { rendered, read, structured } = step(id);
  const value = countTokens(read?.text ?? "");
  const figure = { value, unit: "tokens" as const };
  if (rendered === "" || read === undefined) return { ok: false, fact: "no result" };
  if (structured) return { ok: false, fact: "has structured content", ...figure };
  if (read.text === rendered) return { ok: true, fact: "exactly the rendered text", ...figure };
  const escaped = JSON.stringify(rendered).slice(1, -1);
  const times = count(read.text, rendered) || count(read.text, escaped);
  const isEscaped = !read.text.includes(rendered);
  if (times === 1) {
    return {
      ok: true,
      fact: isEscaped ? "the rendered text as JSON" : "the rendered text in the client's frame",
      ...figure,
    };
  }
  return { ok: false, fact: times === 0 ? "another text" : `the rendered text ${times} times`, ...figure };
}

function count(text: string, part: string): number {
  return text.split(part).length - 1;
}

/** The client's answer to the question. */
function actionOf(observed: Seen["observed"]): string {
  const sent = messages(observed, "client");
  const answers = sent.flatMap(({ result, params }): unknown[] => [
    (result as { action?: string } | undefined)?.action,
    (params?.inputResponses as { approval?: { action?: string } } | undefined)?.approval?.action,
  ]);
  const action = answers.find((answer) => typeof answer === "string");
  return action ? `the client answers ${action}` : "the client cannot ask";
}
