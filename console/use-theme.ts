import { useEffect, useState } from "preact/hooks";

const THEMES = ["auto", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];
const KEY = "keyhole-theme";

/** The theme that the person chose; `auto` follows the system. */
export function useTheme(): { readonly theme: Theme; next(): void } {
  const [theme, setTheme] = useState<Theme>(
    () => THEMES.find((name) => name === localStorage.getItem(KEY)) ?? "auto",
  );
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    localStorage.setItem(KEY, theme);
  }, [theme]);
  return { theme, next: () => setTheme(THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]!) };
}
