/** Signing in: by the one-time code of a link, or by a token that is typed. */
import { h, setText } from "../../page/dom.ts";
import type { Api } from "./api.ts";

/** The code of a link. It leaves the address bar and the history before anything is drawn. */
export function codeInAddress(): string | undefined {
	const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1];
	if (code !== undefined) history.replaceState(null, "", location.pathname);
	return code;
}

export function loginView(api: Api, message: string, done: () => void): HTMLElement {
	const field = h("input", { class: "field", type: "password", id: "token", "aria-describedby": "login-note" });
	field.autocomplete = "off";
	const note = h("p", { class: `composer-note${message ? " bad" : ""}`, id: "login-note", role: "status" }, message);
	const submit = async () => {
		const token = field.value.trim();
		if (!token) return;
		try {
			await api.login({ token });
			done();
		} catch (error) {
			note.classList.add("bad");
			setText(note, error instanceof Error ? error.message : String(error));
			field.select();
		}
	};
	const form = h(
		"form",
		{ class: "login-form" },
		h("label", { for: "token" }, "Token"),
		field,
		note,
		h("button", { class: "choice primary", type: "submit" }, "Sign in"),
	);
	form.addEventListener("submit", (event) => {
		event.preventDefault();
		void submit();
	});
	return h(
		"main",
		{ class: "login" },
		h("h1", {}, "Bowline"),
		h("p", {}, "Run ", h("code", {}, "bowline serve link"), " and open the address that it prints, or sign in with a token of this server."),
		form,
	);
}
