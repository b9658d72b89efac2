/** Runs in the page: reads the session from the page and shows it. */

import { h } from "../../../page/dom.ts";
import { App } from "./app.ts";
import type { PageData } from "./overview.ts";

const root = document.getElementById("app");
const source = document.getElementById("session");
if (root && source) {
	try {
		const data = JSON.parse(source.textContent ?? "") as PageData;
		// Twice in memory is once too often for a large session.
		source.remove();
		new App(root, data);
		document.body.classList.add("ready");
	} catch (error) {
		console.error(error);
		root.replaceChildren(h("p", { class: "plea" }, `This session cannot be shown: ${String(error)}`));
	}
}
