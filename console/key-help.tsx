import { useEffect, useRef } from "preact/hooks";
import { PAGES } from "./routes.tsx";

const KEYS: readonly (readonly [keys: string, what: string])[] = [
  ["/", "Search"],
  ["?", "These keys"],
  ["Esc", "Leave a field, so that keys work again"],
  ["j k", "Next and previous row"],
  ["Enter", "Open the row"],
  ...PAGES.map(({ key, title }) => [`g ${key}`, title] as const),
];

export function KeyHelp({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (isOpen && !dialog.current?.open) dialog.current?.showModal();
    if (!isOpen && dialog.current?.open) dialog.current.close();
  }, [isOpen]);
  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby="keys-title">
      <h2 id="keys-title">Keys</h2>
      <dl class="keys">
        {KEYS.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              {keys.split(" ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <button type="button" class="button" onClick={onClose}>
        Close
      </button>
    </dialog>
  );
}
