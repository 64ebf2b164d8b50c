import type { LoadedSettings } from "../config/load-settings.ts";
import { type Finding, problemWith } from "./finding.ts";

/** Mistakes in settings files and variables. Their sentences name the place. */
export function checkSettings({ problems }: Pick<LoadedSettings, "problems">): Finding[] {
  return problems.map(({ message, next, code, details }) => {
    const about = code === "VARIABLE_INVALID" ? "environment" : String(details.file ?? "settings");
    return problemWith(about, message, next);
  });
}
