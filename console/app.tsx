import { useEffect, useRef, useState } from "preact/hooks";
import type { MeAnswer, WaitingAnswer } from "../src/faces/http/endpoints/api-types.ts";
import { ENDED, endSession, keepHalf, openSession } from "./api.ts";
import { KeyHelp } from "./key-help.tsx";
import { followChanges, type Line, useApi } from "./live.ts";
import { clock, times } from "./parts/format.ts";
import { PAGES } from "./routes.tsx";
import { useKeys } from "./use-keys.ts";
import { useNotifications } from "./use-notifications.ts";
import { useTheme } from "./use-theme.ts";

const OPEN = "#/open/";
const LOGGED_IN = "#/in/";
const COLOURS = { auto: "as the system", light: "light", dark: "dark" };
const NOTHING_WAITS: WaitingAnswer = { counts: { servers: 0, definitions: 0, calls: 0 }, calls: [] };

/** The part of the address after `#/`, as words between slashes. */
function useHash(): readonly string[] {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const onChange = () => setHash(location.hash);
    addEventListener("hashchange", onChange);
    return () => removeEventListener("hashchange", onChange);
  }, []);
  return hash.replace(/^#\/?/, "").split("/");
}

/** Takes over the session that a login has opened, before anything is asked for. */
function enter(): void {
  if (!location.hash.startsWith(LOGGED_IN)) return;
  keepHalf(location.hash.slice(LOGGED_IN.length));
  history.replaceState(null, "", "#/");
}

export function App() {
  useState(enter);
  const [opening, setOpening] = useState<"open" | "opening" | string>(
    location.hash.startsWith(OPEN) ? "opening" : "open",
  );
  useEffect(() => {
    if (opening !== "opening") return;
    const code = location.hash.slice(OPEN.length);
    // The code is used up in any case, so it need not stay in the history.
    history.replaceState(null, "", "#/overview");
    openSession(code).then(
      () => setOpening("open"),
      (error: Error) => setOpening(error.message),
    );
  }, [opening]);
  if (opening === "opening") return <p class="quiet center">Opening…</p>;
  return <Console refusal={opening === "open" ? undefined : opening} />;
}

function Console({ refusal }: { refusal: string | undefined }) {
  const [ended, setEnded] = useState<{ login: string | null }>();
  useEffect(() => {
    const onEnd = (event: Event) => setEnded({ login: (event as CustomEvent<string | null>).detail });
    addEventListener(ENDED, onEnd);
    return () => removeEventListener(ENDED, onEnd);
  }, []);
  if (ended?.login) return <LoggedOut login={ended.login} />;
  return ended ? <Closed refusal={refusal} /> : <Frame />;
}

function LoggedOut({ login }: { login: string }) {
  return (
    <main class="closed">
      <Mark />
      <h1>You are not logged in</h1>
      <p>
        <a href={login}>Log in</a>
      </p>
    </main>
  );
}

function Closed({ refusal }: { refusal: string | undefined }) {
  return (
    <main class="closed">
      <Mark />
      <h1>{refusal ? "This console is closed" : "Your session has ended"}</h1>
      <p class="problem">
        {refusal ?? "It was closed, not used for twelve hours, or the gateway has started anew without it."}
      </p>
      <p>
        For a gateway in the background, <code>keyhole console</code> prints a new link.
      </p>
      <p>
        Otherwise open the console by the link that <code>keyhole serve --http</code> or{" "}
        <code>npm start</code> prints. Each link works once; the terminal shows a new one whenever a link was
        used.
      </p>
    </main>
  );
}

function Frame() {
  const me = useApi<MeAnswer>("/api/me");
  const [path = "", rest = "", part = ""] = useHash();
  const isAdmin = me.value?.admin !== false;
  const rows = isAdmin ? PAGES : PAGES.filter(({ forAll }) => forAll);
  const page = rows.find((row) => row.path === path) ?? rows[0]!;
  const [line, setLine] = useState<Line>("connecting");
  const isLive = line === "live";
  const [isHelpOpen, setHelpOpen] = useState(false);
  const { theme, next } = useTheme();
  const main = useRef<HTMLElement>(null);
  const pages = useRef<HTMLElement>(null);
  const { value: waiting = NOTHING_WAITS } = useApi<WaitingAnswer>("/api/waiting", [
    "approvals",
    "catalog",
    "sources",
    "calls",
  ]);
  const { counts, calls } = waiting;
  const count = counts.servers + counts.definitions + counts.calls;
  const urgent = calls.length === 0 ? "" : times(calls.length, "call waits", "calls wait");

  useEffect(() => followChanges(setLine), []);
  useNotifications(calls);
  useKeys(() => setHelpOpen((before) => !before));
  useEffect(() => {
    document.title = [urgent, page.title, "Keyhole"].filter(Boolean).join(" · ");
  }, [page, urgent]);
  useEffect(() => {
    // On narrow screens the navigation scrolls sideways.
    pages.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [page]);

  return (
    <div class="frame">
      <header class="side">
        <a class="skip" href={`#/${page.path}`} onClick={() => main.current?.focus()}>
          To the content
        </a>
        <a class="brand" href="#/overview">
          <Mark />
          <span>Keyhole</span>
        </a>
        <nav aria-label="Pages" ref={pages}>
          {rows.map((row) => (
            <a key={row.path} href={`#/${row.path}`} aria-current={row === page ? "page" : undefined}>
              <svg viewBox="0 0 20 20" aria-hidden="true">
                <path d={row.icon} />
              </svg>
              <span>{row.title}</span>
              {row.path === "approvals" && count > 0 && (
                <span class="count" title={`${count} wait`}>
                  {count}
                </span>
              )}
            </a>
          ))}
        </nav>
        <div class="side-foot">
          <span class={`live ${isLive ? "on" : ""}`} role="status">
            {isLive ? "Live" : "Reconnecting…"}
          </span>
          <span class="who">
            <bdi>{me.value?.id}</bdi>
          </span>
          <div class="side-buttons">
            <button
              type="button"
              class="ghost"
              onClick={next}
              title={`Colours: ${COLOURS[theme]}`}
              aria-label={`Colours: ${COLOURS[theme]}. Change them`}
            >
              Colours
            </button>
            <button type="button" class="ghost" onClick={() => endSession().then(() => location.reload())}>
              Log out
            </button>
            <button
              type="button"
              class="ghost"
              onClick={() => setHelpOpen(true)}
              aria-label="Keyboard shortcuts"
            >
              ?
            </button>
          </div>
        </div>
      </header>
      <main ref={main} tabIndex={-1} key={page.path}>
        {line === "gone" && <Gone />}
        {/* A page in the address asks at once: on a slow line each round counts. */}
        {(path !== "" || (me.value ?? me.error) !== undefined) && (
          <page.Page rest={decodeURIComponent(rest)} part={decodeURIComponent(part)} />
        )}
      </main>
      <p class="hidden" role="alert" aria-live="assertive">
        {urgent && `${urgent} for you: ${calls.map((call) => `${call.principal}, ${call.op}`).join("; ")}`}
      </p>
      <KeyHelp isOpen={isHelpOpen} onClose={() => setHelpOpen(false)} />
    </div>
  );
}

function Gone() {
  const [since] = useState(() => clock(Date.now()));
  return (
    <p class="banner bad" role="status">
      The gateway does not answer since {since}. If it has ended, start it again with{" "}
      <code>keyhole serve --http</code>: this page goes on by itself, and shows what it knew until then. One
      in the background starts with its next client or with <code>keyhole console</code>, which prints a link.
    </p>
  );
}

function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <path d="M16 6.500a6 6 0 0 0-2.600 11.400L11.600 26h8.800l-1.800-8.100A6 6 0 0 0 16 6.500Z" />
    </svg>
  );
}
