import { hash, randomBytes } from "node:crypto";
import { createSeal } from "../../../base/safety/seal.ts";
import type { OpenStorage } from "../../../base/util/storage.ts";
import { openMemoryStorage } from "../../../core/storage/memory-storage.ts";
import type { BegunLogin } from "./client-provider.ts";
import type { SealKey } from "./logins.ts";
import type { ServerLogin } from "./server-login.ts";

/** A server at which each person logs in. */
export interface PersonServer {
  readonly label: string;
  /** Address of the server without path and query, which may contain secrets. */
  readonly origin: string;
  /** The values that a person enters there instead of a login. */
  readonly fields: readonly string[];
  /** Whether this is its key in the store of logins. */
  isAt(server: string): boolean;
  loginOf(person: string): ServerLogin;
  /** Called when a person has logged in. Must not throw. */
  onLogin(person: string): void;
}

/** The person and server of a link. */
export interface OpenedLink {
  readonly person: string;
  readonly server: PersonServer;
}

/** Links with which people log in to servers, each valid once and for a short time. */
export type LoginLinks = ReturnType<typeof createLoginLinks>;

interface Ticket {
  readonly person: string;
  /** Key of the server in the store of logins. */
  readonly at: string;
  readonly expires: number;
  /** Set after the person has continued to the authorization server. */
  readonly begun?: BegunLogin;
  /** Digest of the secret in the browser that continued. */
  readonly browser?: string;
}

export const LOGIN_PATH = "/login";
export const CALLBACK_PATH = `${LOGIN_PATH}/callback`;
const LINK_MS = 10 * 60_000;
/** Open links of one person. A new one replaces the oldest. */
const MOST_OF_PERSON = 32;
const MOST = 10_000;
const MOST_BYTES = 64 * 1024 * 1024;

interface LinkOptions {
  /** Shared by gateways for the same people: a link then works at each of them. Default: memory. */
  readonly storage?: OpenStorage;
  readonly sealKey: SealKey;
  readonly now?: () => number;
}

/** Creates links for people to servers whose config says `login: "person"`. The console has the pages behind them. */
export function createLoginLinks({ storage = openMemoryStorage, sealKey, now = Date.now }: LinkOptions) {
  const seal = createSeal(typeof sealKey === "string" ? [sealKey] : sealKey, "keyhole login links");
  const perOwner = { entries: MOST_OF_PERSON, size: MOST_BYTES / 16 };
  const all = { entries: MOST, size: MOST_BYTES };
  const tickets = storage<string>("login-link", { all, perOwner, ttlMs: LINK_MS });
  const spent = storage<true>("login-link-spent", { all, perOwner, ttlMs: LINK_MS, lasting: true });
  /** By label: a changed config replaces the server. */
  const servers = new Map<string, PersonServer>();
  let address: string | undefined;

  /**
   * Stores a ticket and returns its secret words. They name the owner, so that no person uses up the limit of another.
   */
  async function issue(ticket: Omit<Ticket, "expires">): Promise<string> {
    const owner = digest(ticket.person).slice(0, 32);
    const secret = randomBytes(32).toString("base64url");
    const text = JSON.stringify({ ...ticket, expires: now() + LINK_MS });
    await tickets.put(digest(secret), owner, seal.seal(text, boundTo(owner, digest(secret))));
    return `${owner}.${secret}`;
  }

  /** Undefined if the ticket does not exist, has expired or was used. */
  async function find(words: string): Promise<(Ticket & OpenedLink) | undefined> {
    const [owner, key] = partsOf(words);
    if (await spent.has(key, owner)) return undefined;
    const text = seal.open((await tickets.get(key, owner)) ?? "", boundTo(owner, key));
    const ticket = text === undefined ? undefined : (JSON.parse(text) as Ticket);
    const server = ticket && [...servers.values()].find(({ isAt }) => isAt(ticket.at));
    return ticket && server && now() < ticket.expires ? { ...ticket, server } : undefined;
  }

  /** Whether this is the first use, at any gateway. */
  async function spend(words: string): Promise<boolean> {
    const [owner, key] = partsOf(words);
    return spent.put(key, owner, true);
  }

  return {
    /** Sets the address of links. */
    serveAt: (origin: string): void => {
      address = origin;
    },
    address: () => address,
    register: (server: PersonServer): void => {
      servers.set(server.label, server);
    },
    servers: (): readonly PersonServer[] => [...servers.values()],
    /** Creates a link for a person. Undefined while no gateway serves its page. */
    create: async (person: string, server: string): Promise<string | undefined> =>
      address === undefined
        ? undefined
        : `${address}${LOGIN_PATH}?link=${await issue({ person, at: server })}`,
    /** Reads a link without using it up, because link previews open it too. */
    look: async (words: string): Promise<OpenedLink | undefined> => {
      const ticket = await find(words);
      return ticket?.browser === undefined ? ticket : undefined;
    },
    /** Uses a link up. False if it was used already. */
    spend,
    /** Begins the login of a link. Returns the address for the browser, and the secret that stays in the browser. */
    begin: async ({ person, server }: OpenedLink) => {
      const login = server.loginOf(person);
      const browser = randomBytes(32).toString("base64url");
      const redirectUrl = `${address}${CALLBACK_PATH}`;
      // The state is the name of the ticket, which must exist before the login begins.
      const draft = { person, at: login.server, browser: digest(browser) };
      const state = await issue(draft);
      const { url, begun } = await login.begin({ redirectUrl, state });
      const [owner, key] = partsOf(state);
      const text = JSON.stringify({ ...draft, begun, expires: now() + LINK_MS });
      await tickets.update(key, owner, () => seal.seal(text, boundTo(owner, key)));
      return { url, state, browser };
    },
    /** Stores the values that a person enters instead of a login. */
    give: async ({ person, server }: OpenedLink, values: Readonly<Record<string, string>>): Promise<void> => {
      await server.loginOf(person).give(values);
      server.onLogin(person);
    },
    /** The login that this browser began under a state. */
    lookBegun: async (state: string, browser: string): Promise<OpenedLink | undefined> => {
      const ticket = await find(state);
      return ticket?.begun && ticket.browser === digest(browser) ? ticket : undefined;
    },
    /** Redeems the answer to a login. False if it was redeemed before. @throws LOGIN_FAILED */
    finish: async (state: string, answer: URLSearchParams): Promise<boolean> => {
      const ticket = await find(state);
      if (!ticket?.begun || !(await spend(state))) return false;
      const redirectUrl = `${address}${CALLBACK_PATH}`;
      await ticket.server.loginOf(ticket.person).finish(ticket.begun, { redirectUrl, answer });
      ticket.server.onLogin(ticket.person);
      return true;
    },
  };
}

function partsOf(words: string): [owner: string, key: string] {
  const at = words.indexOf(".");
  return [words.slice(0, Math.max(at, 0)), digest(words.slice(at + 1))];
}

function boundTo(owner: string, key: string): string {
  return JSON.stringify([owner, key]);
}

/** Only digests are stored and compared: timing and a copy of the store reveal no link. */
function digest(text: string): string {
  return hash("sha256", text);
}
