import type { IncomingHttpHeaders } from "node:http";
import type { Principal } from "../schema/principal.ts";

/** One POST of a client, whose body has been read. */
export interface Post {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly principal: Principal | undefined;
  /** Aborted when the client leaves. */
  readonly gone: AbortController;
  /** The same request for the SDK. */
  toRequest(): Request;
}

/** JSON for a client, with the status 200. Most answers are this, and a Response costs more than their call. */
export interface PlainAnswer {
  readonly json: string;
}

/** Answers a POST. It trusts its caller, as the server's \`fetch\` does. */
export type AnswerPost = (post: Post) => Promise<Response | PlainAnswer>;

const doors = new WeakMap<object, AnswerPost>();

/** The way into an MCP server for {@link Post}s. Only servers of this program have one. */
export function answerPostOf(server: object): AnswerPost | undefined {
  return doors.get(server);
}

export function setAnswerPost(server: object, answer: AnswerPost): void {
  doors.set(server, answer);
}
