import { setTimeout as sleep } from "node:timers/promises";
import { customProblem, isProblem, type Problem, problem } from "../../base/problems/problem.ts";
import { subjectTokenOf } from "../../core/access/subject-tokens.ts";
import { loginNeeded } from "../../core/calls/decide-call.ts";
import type { CallContext, CallingClient, EntryStatus } from "../../core/nouns/entry.ts";
import type { LoginLinks } from "./login/login-links.ts";
import { OPERATOR, type ServerLogin } from "./login/server-login.ts";
import { canOpenPages } from "./seen-client.ts";

/** The caller, who may be asked to log in. */
export type CallingPerson = Pick<CallContext, "principal" | "ask">;

interface CallOfPerson {
  readonly person?: CallingPerson | undefined;
  readonly caller?: CallingClient | undefined;
}

/** A connection of one person. */
interface PersonConnection {
  readonly state: { readonly status?: EntryStatus | undefined };
  connect(): unknown;
  /** Allows calls again at a server that refused an earlier login. */
  forgetRefusal(): void;
  close(): Promise<void>;
}

interface PeopleOptions<C> {
  readonly label: string;
  /** Absent if no gateway serves the login page. */
  readonly links?: LoginLinks | undefined;
  readonly commandFor?: (words: readonly string[]) => string;
  /** Opens the connection of a person with their login. */
  open(login: ServerLogin): C;
  toLogin(person: string): ServerLogin;
}

interface PersonSide<C> {
  readonly login: ServerLogin;
  readonly side: C;
  calls: number;
}

/** People with their own connection to one server. Others wait until an idle person's connection closes. */
const MOST_PEOPLE = 256;
/** How long a call waits for a person who has opened the page, and how often it checks. */
const LOGIN_MS = 60_000;
const LOOK_MS = 250;

/** The people who use one server, each with a login, a session and a connection. */
export class People<C extends PersonConnection> {
  private readonly options: PeopleOptions<C>;
  /** Least recently used first. */
  private readonly sides = new Map<string, PersonSide<C>>();

  constructor(options: PeopleOptions<C>) {
    this.options = options;
  }

  /** Runs a call over the connection of its person, and asks them to log in if necessary. */
  async run<T>(call: CallOfPerson, signal: AbortSignal, send: (side: C) => Promise<T>): Promise<T> {
    const { label } = this.options;
    const { person } = call;
    // No caller acts as another person, even if the caller is unknown.
    if (!person) throw problem("UNAVAILABLE", { name: `A part of ${label}`, ...NOBODY });
    const mine = this.sideOf(person.principal.id);
    const { login, side } = mine;
    if (login.isExchanged) login.exchangeFor(subjectTokenOf(person.principal));
    mine.calls += 1;
    try {
      if (!(await login.isReady())) await this.askToLogIn(call, login, signal);
      try {
        side.forgetRefusal();
        return await send(side);
      } catch (error) {
        if (!wantsLogin(error, side)) throw error;
        await this.askToLogIn(call, login, signal);
        side.forgetRefusal();
        return await send(side);
      }
    } finally {
      mine.calls -= 1;
    }
  }

  /** The login of a person. */
  loginOf(person: string): ServerLogin {
    return this.sideOf(person).login;
  }

  /** Connects ahead of a call. */
  connect(person: string): void {
    const { side } = this.sideOf(person);
    side.forgetRefusal();
    Promise.resolve(side.connect()).catch(() => {});
  }

  async close(): Promise<void> {
    const sides = [...this.sides.values()];
    this.sides.clear();
    await Promise.all(sides.map(({ side }) => side.close()));
  }

  private sideOf(person: string): PersonSide<C> {
    const existing = this.sides.get(person);
    this.sides.delete(person);
    const mine = existing ?? this.openSide(person);
    this.sides.set(person, mine);
    return mine;
  }

  private openSide(person: string): PersonSide<C> {
    if (this.sides.size >= MOST_PEOPLE) {
      const [idle, last] = [...this.sides].find(([, { calls }]) => calls === 0) ?? [];
      if (!last) throw problem("BUSY", { server: this.options.label, running: this.sides.size, waiting: 0 });
      this.sides.delete(idle!);
      void last.side.close();
    }
    const login = this.options.toLogin(person);
    return { login, side: this.options.open(login), calls: 0 };
  }

  /** Resolves after the person has logged in. @throws LOGIN_NEEDED with the link otherwise. */
  private async askToLogIn(
    { person, caller }: CallOfPerson,
    login: ServerLogin,
    signal: AbortSignal,
  ): Promise<void> {
    const { label, links } = this.options;
    if (login.isExchanged) throw cannotExchange(label, login.complaint);
    const url = await links?.create(person!.principal.id, login.server);
    if (url === undefined) throw this.withoutLink(person!.principal.id);
    if (person!.ask && caller && canOpenPages(caller.capabilities)) {
      const action = `Log in to ${label} as ${person!.principal.id}`;
      const reason = `The server ${label} wants each person's own login.`;
      const answer = await person!.ask({ scope: "login", action, reason, always: [], opens: url });
      const hasOpened = answer === true || (typeof answer === "object" && "by" in answer);
      if (hasOpened && (await isLoggedIn(login, signal))) return;
    }
    throw loginNeeded(label, url);
  }

  private withoutLink(person: string): Problem {
    const { label, commandFor } = this.options;
    const command = commandFor?.(["login", label]) ?? `keyhole login ${label}`;
    const next =
      person === OPERATOR
        ? `The user has to type: ${command}`
        : "Tell the person: keyhole serve --http serves the page on which they log in.";
    return customProblem("LOGIN_NEEDED", `The server ${label} wants a login of ${person}.`, next);
  }
}

const NOBODY = { state: "needs_login", reason: "it wants each person's own login, and nobody is named" };

function wantsLogin(error: unknown, { state }: PersonConnection): boolean {
  if (!isProblem(error)) return false;
  return error.code === "LOGIN_NEEDED" || state.status?.state === "needs_login";
}

/** Waits for a person who has opened the page. */
async function isLoggedIn(login: ServerLogin, signal: AbortSignal): Promise<boolean> {
  for (let waited = 0; waited < LOGIN_MS; waited += LOOK_MS) {
    if (await login.isReady(true)) return true;
    await sleep(LOOK_MS, undefined, { signal });
  }
  return false;
}

function cannotExchange(label: string, why: string | undefined): Problem {
  const reason = why === undefined ? "" : ` ${why}`;
  const message = `The server ${label} wants a token for the person who calls, and there is none.${reason}`;
  const next = "Tell the person: they have to call with a token of the issuer that the server trusts.";
  return customProblem("LOGIN_NEEDED", message, next);
}
