import type { SessionState } from "./agent.ts";
import { closeHistory } from "./history.ts";

/** Forgets the messages of a conversation from one on. Its file keeps them. */
export function rewind(session: SessionState, at: number): void {
  const from = session.messages[at];
  if (!from) return;
  session.messages = closeHistory(session.messages.slice(0, at));
  const shownAt = session.shown.indexOf(from);
  // A message that a summary stands for is not among the shown ones: the summary goes.
  session.shown = shownAt === -1 ? [...session.messages] : closeHistory(session.shown.slice(0, shownAt));
  session.log?.rewound(at);
}
