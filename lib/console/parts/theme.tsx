import { Monitor, Moon, Sun } from "lucide-react";
import { useEffect, useState } from "react";
import { Button } from "./button.tsx";

type Theme = "system" | "light" | "dark";

const KEY = "bridge.theme";
const NEXT: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };
const ICONS = { system: Monitor, light: Sun, dark: Moon };
const NAMES = { system: "as the device", light: "light", dark: "dark" };

/** Light, dark, or as the device has it; kept on the device. */
export function ThemeSwitch() {
  const [theme, setTheme] = useState(keptTheme);
  useEffect(() => applyTheme(theme), [theme]);
  const Icon = ICONS[theme];
  const next = NEXT[theme];
  return (
    <Button
      kind="plain"
      compact
      icon={<Icon size={16} aria-hidden />}
      aria-label={`Colours: ${NAMES[theme]}. Change to ${NAMES[next]}`}
      title={`Colours: ${NAMES[theme]}`}
      onClick={() => {
        localStorage.setItem(KEY, next);
        setTheme(next);
      }}
    />
  );
}

/** Puts the kept colours on the page; before anything is drawn. */
export function applyTheme(theme: Theme = keptTheme()): void {
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}

function keptTheme(): Theme {
  const kept = localStorage.getItem(KEY);
  return kept === "light" || kept === "dark" ? kept : "system";
}
