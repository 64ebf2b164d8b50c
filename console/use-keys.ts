import { useEffect } from "preact/hooks";
import { PAGES } from "./routes.tsx";

const GO_MS = 1_200;

/** Keys that work on every page, except while somebody types. */
export function useKeys(onHelp: () => void): void {
  useEffect(() => {
    let goUntil = 0;
    const onKey = (event: KeyboardEvent) => {
      // After Esc, keys are commands again.
      if (event.key === "Escape" && isTyping(event.target)) (event.target as HTMLElement).blur();
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const page = performance.now() < goUntil ? PAGES.find(({ key }) => key === event.key) : undefined;
      goUntil = event.key === "g" ? performance.now() + GO_MS : 0;
      if (page) location.hash = `#/${page.path}`;
      else if (event.key === "/") toSearch();
      else if (event.key === "?") onHelp();
      else if (event.key === "j" || event.key === "k") move(event.key === "j" ? 1 : -1);
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}

function toSearch(): void {
  if (!location.hash.startsWith("#/search")) location.hash = "#/search";
  // The page may have to appear first.
  const focus = (tries: number) => {
    const input = document.querySelector<HTMLInputElement>("#need");
    if (input) input.select();
    else if (tries > 0) requestAnimationFrame(() => focus(tries - 1));
  };
  focus(30);
}

/** Moves the focus through the rows of a page. */
function move(by: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>("[data-row]")];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  rows[Math.min(rows.length - 1, Math.max(0, at + by))]?.focus();
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("input:not([type=checkbox]), textarea, select");
}
