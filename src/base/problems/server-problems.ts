import type { ProblemRow } from "./format-message.ts";

/** The problems of servers: their configs, logins, processes and answers. See `problems.ts`. */
export const SERVER_PROBLEMS = {
  LOGIN_NEEDED: {
    sentence: "{name} answered {status}: {reason}",
    next: "Tell the person which credentials or scopes are missing. The call fails until they are added.",
    when: "An API refuses the credentials of the source, or they do not cover the operation (401, 403).",
  },
  LOGIN_FAILED: {
    sentence: "The login to the server {server} failed: {reason}.",
    next: "Correct the cause, then log in again: keyhole login {server}.",
    when: "A login to an upstream server was refused, not answered, or not safe to continue.",
  },
  RATE_LIMITED: {
    sentence: "{name} answered {status}: {reason}",
    next: "Wait {wait} before the next call. Ask for more in one call if its args allow it.",
    when: "An API gets too many requests (429).",
  },
  CALL_FAILED: {
    sentence: "{name} failed: {reason}",
    next: "{advice}",
    when: "An API answered with an error status, or its answer was incomplete. The next step depends on the cause.",
  },
  SERVER_CONFIG_INVALID: {
    sentence: "The configuration of the server {server} cannot be used: {reason}.",
    next: "Correct the configuration, and set the variables that it names.",
    when: "The configuration of an upstream server is malformed, or names a variable that is not set.",
  },
  UPSTREAM_LOST: {
    sentence: "The connection to the server {server} broke: {reason}",
    next: "The next call starts the server again. Before you repeat a write, read whether it took effect.",
    when: "An upstream server ended, or sent unreadable data, during a call.",
  },
  UPSTREAM_ERROR: {
    sentence: "The server {server} answered with an error: {reason}",
    next: "Read the error; correct the args, or use another entry.",
    when: "An upstream server ran the call and reported an error, or refused it.",
  },
  SANDBOX_DENIED: {
    sentence: "The sandbox of the server {server} keeps it from writing {path}. It said: {reason}",
    next: "Tell the person to {remedy}. Then make the same call again.",
    when: "A server answered that it could not write to a path that its sandbox keeps it from writing.",
  },
  BUSY: {
    sentence: "The server {server} has {running} calls running and {waiting} waiting, which is its limit.",
    next: "Wait a little, then call again.",
    when: "An upstream server receives calls faster than it answers them.",
  },
} as const satisfies Record<string, ProblemRow>;
