import { render, useInput, useWindowSize } from "ink";
import { createElement as h, type ReactNode } from "react";
import type { ApprovalAnswer, ApprovalCard } from "../../gateway/approvals.ts";
import { ApprovalView } from "./approval-view.ts";
import { useAttention } from "./permission-dialog.ts";

/** Shows a card in the terminal until the person answers. Keys that were typed before it was shown count for nothing. */
export async function showApproval(card: ApprovalCard): Promise<ApprovalAnswer> {
  const { promise, resolve } = Promise.withResolvers<ApprovalAnswer>();
  const screen = render(h(ApprovalScreen, { card, onAnswer: resolve }), {
    exitOnCtrlC: false,
    interactive: true,
    alternateScreen: true,
  });
  try {
    return await Promise.race([promise, screen.waitUntilExit().then(() => "stop" as const)]);
  } finally {
    screen.unmount();
    await screen.waitUntilExit();
  }
}

interface ApprovalScreenProps {
  readonly card: ApprovalCard;
  onAnswer(answer: ApprovalAnswer): void;
}

function ApprovalScreen({ card, onAnswer }: ApprovalScreenProps): ReactNode {
  const { columns, rows } = useWindowSize();
  const attention = useAttention(1);
  useInput((input, key) => {
    if (key.ctrl && input === "c") onAnswer("stop");
  });
  return h(ApprovalView, { card, columns, rows: rows - 1, attention, onAnswer });
}
