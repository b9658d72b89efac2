/** Shortcuts. Single letters work outside of fields only, and can be switched off. */

export const keyMap = [
	["?", "This list"],
	["j", "Next message"],
	["k", "Previous message"],
	["o", "Open or close the tool calls of the message"],
	["/", "Search the conversation; without one, the sessions"],
	["g s", "Go to the sessions"],
	["n", "New session"],
	["i", "Write a message"],
	["a", "Next question that waits"],
	["Shift+Y", "Allow the question that has the focus, once"],
	["Shift+X", "Deny it"],
	["[", "Previous session"],
	["]", "Next session"],
	["t", "Light, dark, or as the system"],
	["Escape", "Leave a field or a drawer; twice in the message: stop the run"],
] as const;

export type Action =
	| "help"
	| "down"
	| "up"
	| "toggle"
	| "search"
	| "sessions"
	| "new"
	| "write"
	| "ask"
	| "yes"
	| "no"
	| "before"
	| "after"
	| "theme"
	| "leave";

const plain: Record<string, Action> = {
	"?": "help",
	j: "down",
	k: "up",
	o: "toggle",
	"/": "search",
	n: "new",
	i: "write",
	a: "ask",
	"[": "before",
	"]": "after",
	t: "theme",
};

const key = "bowline-letters";

export class Keyboard {
	#act: (action: Action) => void;
	#goAt = 0;

	constructor(act: (action: Action) => void) {
		this.#act = act;
		document.addEventListener("keydown", (event) => this.#onKey(event));
	}

	get areLettersOn(): boolean {
		try {
			return localStorage.getItem(key) !== "off";
		} catch {
			// Without storage they are as they begin.
			return true;
		}
	}

	set areLettersOn(on: boolean) {
		try {
			localStorage.setItem(key, on ? "on" : "off");
		} catch (error) {
			console.info("The choice is not remembered:", error);
		}
	}

	#onKey(event: KeyboardEvent): void {
		if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
		if (event.key === "Escape") return this.#act("leave");
		const target = event.target as HTMLElement;
		const isTyping = target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]") !== null;
		if (isTyping || !this.areLettersOn || document.querySelector("dialog[open]")) return;
		const action = this.#actionOf(event);
		if (!action) return;
		event.preventDefault();
		this.#act(action);
	}

	#actionOf(event: KeyboardEvent): Action | undefined {
		if (event.key === "g") {
			this.#goAt = performance.now();
			return undefined;
		}
		if (event.key === "s" && performance.now() - this.#goAt < 1500) return "sessions";
		if (event.shiftKey && event.key === "Y") return "yes";
		if (event.shiftKey && event.key === "X") return "no";
		return plain[event.key];
	}
}
