/** Light, dark, or as the system has it. */
import { button, icon, setAttribute } from "./dom.ts";

const themes = ["auto", "light", "dark"] as const;
type Theme = (typeof themes)[number];

const key = "bowline-theme";
const icons = { auto: "auto", light: "sun", dark: "moon" } as const;
const names = { auto: "as the system", light: "light", dark: "dark" };

export function themeSwitch(): HTMLButtonElement {
	let theme = remembered();
	const show = () => {
		if (theme === "auto") delete document.documentElement.dataset.theme;
		else document.documentElement.dataset.theme = theme;
		toggle.replaceChildren(icon(icons[theme]));
		setAttribute(toggle, "title", `Colours: ${names[theme]}`);
		setAttribute(toggle, "aria-label", toggle.title);
	};
	const toggle = button("tool-button theme", "Colours", () => {
		theme = themes[(themes.indexOf(theme) + 1) % themes.length] as Theme;
		remember(theme);
		show();
	});
	show();
	return toggle;
}

function remembered(): Theme {
	try {
		const found = localStorage.getItem(key);
		return themes.find((theme) => theme === found) ?? "auto";
	} catch {
		// Browsers may keep storage from pages that are plain files.
		return "auto";
	}
}

function remember(theme: Theme): void {
	try {
		localStorage.setItem(key, theme);
	} catch (error) {
		console.info("The choice of colours is not remembered:", error);
	}
}
