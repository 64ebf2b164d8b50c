import { createHash, randomBytes } from "node:crypto";
import { createSeal } from "../../../base/safety/seal.ts";
import type { OpenStorage } from "../../../base/util/storage.ts";
import { openMemoryStorage } from "../../../core/storage/memory-storage.ts";
import type { BegunLogin } from "./client-provider.ts";
import type { SealKey } from "./logins.ts";
import type { ServerLogin } from "./server-login.ts";

/** A server at which each person logs in. */
export interface PersonServer {
  readonly label: string;
  /** The address of the server without its path and query, which may hold secrets. */
  readonly origin: string;
  /** The values that a person gives there in place of a login. */
  readonly fields: readonly string[];
  /** Whether the store of logins has it under this name. */
  isAt(server: string): boolean;
  loginOf(person: string): ServerLogin;
  /** Called when a person has logged in. Must not throw. */
  onLogin(person: string): void;
}

/** A link that was opened: for whom it is, and for which server. */
export interface OpenedLink {
  readonly person: string;
  readonly server: PersonServer;
}

/** Links by which people log in to servers, each once and within a short time. */
export type LoginLinks = ReturnType<typeof createLoginLinks>;

interface Ticket {
  readonly person: string;
  /** The server in the store of logins. */
  readonly at: string;
  readonly expires: number;
  /** Set once the person has gone on to the authorization server. */
  readonly begun?: BegunLogin;
  /** The digest of the secret in the browser that has gone on. */
  readonly browser?: string;
}

export const LOGIN_PATH = "/login";
export const CALLBACK_PATH = `${LOGIN_PATH}/callback`;
const LINK_MS = 10 * 60_000;
/** Links of one person that are open at a time. A new one ends the oldest. */
const MOST_OF_PERSON = 32;
const MOST = 10_000;
const MOST_BYTES = 64 * 1024 * 1024;

interface LinkOptions {
  /** Shared by gateways that serve the same people: a link then works at any of them. Default: memory. */
  readonly storage?: OpenStorage;
  readonly sealKey: SealKey;
  readonly now?: () => number;
}

/** Creates the links of people to servers whose config says `login: "person"`. The console has the pages behind them. */
export function createLoginLinks({ storage = openMemoryStorage, sealKey, now = Date.now }: LinkOptions) {
  const seal = createSeal(typeof sealKey === "string" ? [sealKey] : sealKey, "keyhole login links");
  const perOwner = { entries: MOST_OF_PERSON, size: MOST_BYTES / 16 };
  const all = { entries: MOST, size: MOST_BYTES };
  const tickets = storage<string>("login-link", { all, perOwner, ttlMs: LINK_MS });
  const spent = storage<true>("login-link-spent", { all, perOwner, ttlMs: LINK_MS, lasting: true });
  /** By label: a changed config replaces the server. */
  const servers = new Map<string, PersonServer>();
  let address: string | undefined;

  /** Keeps a ticket and returns the words that open it. They name its owner, so that nobody uses up another's room. */
  async function issue(ticket: Omit<Ticket, "expires">): Promise<string> {
    const owner = digest(ticket.person).slice(0, 32);
    const secret = randomBytes(32).toString("base64url");
    const text = JSON.stringify({ ...ticket, expires: now() + LINK_MS });
    await tickets.put(digest(secret), owner, seal.seal(text, boundTo(owner, digest(secret))));
    return `${owner}.${secret}`;
  }

  /** Undefined if there is no such ticket, or it has expired or was used. */
  async function find(words: string): Promise<(Ticket & OpenedLink) | undefined> {
    const [owner, key] = partsOf(words);
    if (await spent.has(key, owner)) return undefined;
    const text = seal.open((await tickets.get(key, owner)) ?? "", boundTo(owner, key));
    const ticket = text === undefined ? undefined : (JSON.parse(text) as Ticket);
    const server = ticket && [...servers.values()].find(({ isAt }) => isAt(ticket.at));
    return ticket && server && now() < ticket.expires ? { ...ticket, server } : undefined;
  }

  /** Whether this is the first use, at whichever gateway. */
  async function spend(words: string): Promise<boolean> {
    const [owner, key] = partsOf(words);
    return spent.put(key, owner, true);
  }

  return {
    /** Lets links lead to this address. */
    serveAt: (origin: string): void => {
      address = origin;
    },
    address: () => address,
    register: (server: PersonServer): void => {
      servers.set(server.label, server);
    },
    /** All servers at which people log in. */
    servers: (): readonly PersonServer[] => [...servers.values()],
    /** Makes a link for a person. Undefined while no gateway serves the page that it leads to. */
    create: async (person: string, server: string): Promise<string | undefined> =>
      address === undefined
        ? undefined
        : `${address}${LOGIN_PATH}?link=${await issue({ person, at: server })}`,
    /** Looks at a link without using it up, because programs that look ahead open links, too. */
    look: async (words: string): Promise<OpenedLink | undefined> => {
      const ticket = await find(words);
      return ticket?.browser === undefined ? ticket : undefined;
    },
    /** Uses a link up. False if somebody else was faster. */
    spend,
    /** Begins the login of a link. Returns the address for the browser, and the secret that stays in the browser. */
    begin: async ({ person, server }: OpenedLink) => {
      const login = server.loginOf(person);
      const browser = randomBytes(32).toString("base64url");
      const redirectUrl = `${address}${CALLBACK_PATH}`;
      // The state is the name of the ticket, which has to be known before the login begins.
      const draft = { person, at: login.server, browser: digest(browser) };
      const state = await issue(draft);
      const { url, begun } = await login.begin({ redirectUrl, state });
      const [owner, key] = partsOf(state);
      const text = JSON.stringify({ ...draft, begun, expires: now() + LINK_MS });
      await tickets.update(key, owner, () => seal.seal(text, boundTo(owner, key)));
      return { url, state, browser };
    },
    /** Keeps the values that a person gives in place of a login. */
    give: async ({ person, server }: OpenedLink, values: Readonly<Record<string, string>>): Promise<void> => {
      await server.loginOf(person).give(values);
      server.onLogin(person);
    },
    /** The login that this browser has begun under a state. */
    lookBegun: async (state: string, browser: string): Promise<OpenedLink | undefined> => {
      const ticket = await find(state);
      return ticket?.begun && ticket.browser === digest(browser) ? ticket : undefined;
    },
    /** Takes the answer to a login that was looked at. False if it was taken before. @throws LOGIN_FAILED */
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
  return createHash("sha256").update(text).digest("hex");
}
