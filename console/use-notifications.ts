import { useEffect, useState } from "preact/hooks";
import type { WaitingCall } from "../src/faces/http/endpoints/api-types.ts";

const KEY = "keyhole-notify";

/** Tells of each new call that waits by a notification of the system, if the person has chosen so in this browser. */
export function useNotifications(calls: readonly WaitingCall[]): void {
  useEffect(() => {
    if (!isChosen()) return;
    const shown = calls.flatMap((call) => notify(call) ?? []);
    return () => {
      for (const notification of shown) notification.close();
    };
  }, [calls.map(({ id }) => id).join()]);
}

/** A browser shows one notification of a tag, so that several pages of the console tell of a call once. */
function notify({ id, op, principal }: WaitingCall): Notification | undefined {
  try {
    const notification = new Notification("A call waits for you", { body: `${principal}: ${op}`, tag: id });
    notification.onclick = () => {
      window.focus();
      location.hash = "#/approvals";
    };
    return notification;
  } catch {
    // Some browsers of phones show none of a page.
    return undefined;
  }
}

function isChosen(): boolean {
  return (
    "Notification" in window && Notification.permission === "granted" && localStorage.getItem(KEY) === "on"
  );
}

/** The choice of the person. The browser is asked only when they make it. */
export function useNotificationChoice() {
  const [isOn, setOn] = useState(isChosen);
  return {
    /** Browsers notify for pages of this machine, or over HTTPS. */
    isPossible: "Notification" in window && window.isSecureContext,
    isOn,
    turn: async (on: boolean): Promise<void> => {
      if (on && (await Notification.requestPermission()) !== "granted")
        throw new Error(
          "Your browser does not let this page notify you. Its settings of the page change that.",
        );
      localStorage.setItem(KEY, on ? "on" : "off");
      setOn(on);
    },
  };
}
