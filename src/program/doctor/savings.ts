import { countOf } from "../../base/util/count-of.ts";
import { listedTokens, shownPart, type ToolTokens } from "../../gateway/tool-tokens.ts";
import type { Client, ClientListing } from "../clients/client.ts";
import { LISTS_DATE } from "../clients/clients.ts";
import { wrapText } from "../terminal/define-command.ts";

/** The tokens that Keyhole takes in the place of a client's servers. */
export interface KeyholeTokens {
  /** Its tools and its instructions, in each request. */
  readonly menu: number;
  /** An answer of its search. */
  readonly answer: number;
  /** The share of the tools that its menu names: they are called without a search. */
  readonly named: number;
}

/** Tokens without Keyhole, with the client's own way to list tools, and behind Keyhole. */
interface Compared {
  readonly alone: number;
  readonly behind: number;
}

/** The tokens that the tools of one client take, in each request and in a typical conversation. */
export interface Saving {
  /** The name of the client. */
  readonly client: string;
  readonly title: string;
  readonly listing: ClientListing;
  /** Whether nothing is known of the client: it is taken to list whole definitions. */
  readonly isGuess: boolean;
  readonly tools: number;
  readonly request: Compared;
  readonly conversation: Compared;
}

/**
 * A typical conversation. Twelve tasks over four and eight servers took 12 to 17 requests, at most one of them to search,
 * of 6,400 to 56,500 tokens in twelve clients (`npm run clients -- --tour`). Results of tools are left out.
 */
export const CONVERSATION = { requests: 20, otherTokens: 15_000, searches: 1 } as const;

/** Saving less than this share of a conversation is not worth a change. */
const WORTHWHILE = 0.05;

export type ListingClient = Pick<Client, "name" | "title" | "lists">;

/** Compares a client that has these tools with the same client behind Keyhole: once for each of its ways to list them. */
export function savingsOf(
  { name, title, lists }: ListingClient,
  tools: readonly ToolTokens[],
  keyhole: KeyholeTokens,
): Saving[] {
  const whole = listedTokens(tools, { shows: "definitions" });
  return (lists ?? [{ shows: "definitions" } as const]).map((listing: ClientListing) => {
    const { loads = 0 } = listing;
    const shows = shownPart(listing, tools.length);
    const alone = listedTokens(tools, listing);
    const loaded = (loads * whole) / Math.max(1, tools.length);
    return {
      client: name,
      title,
      listing: { ...listing, shows },
      isGuess: lists === undefined,
      tools: tools.length,
      request: { alone, behind: keyhole.menu },
      conversation: {
        alone: conversationTokens(alone, loaded, shows === "definitions" ? 0 : 1),
        behind: conversationTokens(keyhole.menu, keyhole.answer, 1 - keyhole.named),
      },
    };
  });
}

/**
 * The input tokens of all requests of a conversation. A search is one more request, and later ones carry its answer.
 *
 * @param unseen The share of the tools that have to be searched for.
 */
function conversationTokens(inEachRequest: number, inEachAnswer: number, unseen: number): number {
  const searches = CONVERSATION.searches * unseen;
  const requests = CONVERSATION.requests + searches;
  const answers = (searches * inEachAnswer * requests) / 2;
  return Math.round(requests * (CONVERSATION.otherTokens + inEachRequest) + answers);
}

export function isWorthwhile({ conversation: { alone, behind } }: Saving): boolean {
  return 1 - behind / alone >= WORTHWHILE;
}

const FIGURES_WIDTH = 38;
const HEAD = ["  tools tokens a request          in a", "         itself  Keyhole  conversation"];
const WAYS: Readonly<Record<ClientListing["shows"], string>> = {
  definitions: "lists all",
  summaries: "lists summaries",
  names: "lists names",
  search: "lists none",
};

/** A table of the clients, those with equal figures in one row, the assumptions behind it, and advice. */
export function savingLines(savings: readonly Saving[], columns = 80): string[] {
  if (savings.length === 0) return [];
  const rows = Map.groupBy(savings, ({ listing: { shows }, isGuess, tools, request, conversation }) =>
    JSON.stringify([shows, isGuess, tools, request, conversation]),
  );
  const width = columns - 1 - FIGURES_WIDTH;
  const { requests, otherTokens } = CONVERSATION;
  const assumed = `Conversation: ${requests} requests with ${count(otherTokens)} other tokens, and one more where a search is needed. Results are not counted. How clients list tools: ${LISTS_DATE}.`;
  return [
    ...HEAD.map((line) => `${" ".repeat(width)}${line}`),
    ...[...rows.values()].flatMap((row) => rowLines(row, width)),
    ...[assumed, adviceOf(savings) ?? ""].flatMap((text) => wrapText(text, columns - 1)).filter(Boolean),
  ];
}

function rowLines(savings: readonly Saving[], width: number): string[] {
  const { listing, isGuess, tools, request, conversation } = savings[0]!;
  const titles = savings.map(({ title, listing: { when } }) => (when ? `${title} (${when})` : title));
  const way = isGuess ? "not known, at most" : WAYS[listing.shows];
  const [first = "", ...more] = wrapText(`${titles.join(", ")}: ${way}`, width - 4);
  const figures = [
    count(tools).padStart(7),
    count(request.alone).padStart(8),
    count(request.behind).padStart(9),
    changeOf(conversation).padStart(14),
  ];
  return [`  ${first.padEnd(width - 2)}${figures.join("")}`, ...more.map((line) => `    ${line}`)];
}

function changeOf({ alone, behind }: Compared): string {
  const percent = Math.round((1 - behind / alone) * 100);
  if (percent === 0) return "the same";
  return percent > 0 ? `${percent} % less` : `${-percent} % more`;
}

/** Advises against Keyhole for the clients that would save too little. Undefined if all would save. */
function adviceOf(savings: readonly Saving[]): string | undefined {
  const byClient = [...Map.groupBy(savings, ({ client }) => client).values()];
  const against = byClient.filter((ways) => !ways.some(isWorthwhile));
  if (against.length === 0) return undefined;
  const unless = "unless tools return long results, or you want shared servers or approvals";
  if (against.length > 1) {
    const titles = against.map(([way]) => way!.title);
    return `Keyhole would save little in ${titles.slice(0, -1).join(", ")} and ${titles.at(-1)}: leave them, ${unless}.`;
  }
  const ways = against[0]!.toSorted((one, other) => other.request.alone - one.request.alone);
  const { title, listing, isGuess, tools, request } = ways[0]!;
  const isMost = ways.length > 1 || isGuess;
  const tokens = `${isMost ? "at most " : ""}${count(request.alone)} tokens`;
  const them = tools === 1 ? "it" : "them";
  const does =
    listing.shows === "definitions" ? `lists ${them} itself` : `hides ${them} behind its own search`;
  return `With ${countOf(tools, "tool")}, ${title} ${does} for ${tokens}; Keyhole would save little: leave it as it is, ${unless}.`;
}

export function count(number: number): string {
  return number.toLocaleString("en-US");
}
