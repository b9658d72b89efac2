/** Questions of the page itself, in a modal dialog: the browser keeps the focus inside and gives it back. */
import { type Child, h, option, setAttribute, setText } from "../../page/dom.ts";

function open(title: string, body: Child[], className = ""): { dialog: HTMLDialogElement; closed: Promise<string> } {
	const dialog = h("dialog", { class: `modal ${className}`, "aria-labelledby": "modal-title" }, h("h2", { id: "modal-title" }, title), ...body);
	document.body.append(dialog);
	dialog.addEventListener("click", (event) => event.target === dialog && dialog.close(""));
	const closed = new Promise<string>((resolve) =>
		dialog.addEventListener("close", () => {
			dialog.remove();
			resolve(dialog.returnValue);
		}),
	);
	dialog.showModal();
	return { dialog, closed };
}

/** Whether the reader agreed. */
export async function agreed(title: string, text: string, yes: string, no = "Cancel"): Promise<boolean> {
	const choice = (name: string, value: string, className: string) =>
		h("button", { class: `choice ${className}`, type: "button", onclick: () => dialog.close(value) }, name);
	const { dialog, closed } = open(title, [h("p", {}, text), h("div", { class: "choices" }, choice(yes, "yes", "primary"), choice(no, "", ""))]);
	return (await closed) === "yes";
}

export async function asked(title: string, label: string, value: string, yes: string): Promise<string | undefined> {
	const field = h("input", { class: "field", type: "text", id: "modal-field" });
	field.value = value;
	const { dialog, closed } = open(title, [
		h("label", { for: "modal-field" }, label),
		field,
		h(
			"div",
			{ class: "choices" },
			h("button", { class: "choice primary", type: "button", onclick: () => dialog.close("yes") }, yes),
			h("button", { class: "choice", type: "button", onclick: () => dialog.close("") }, "Cancel"),
		),
	]);
	field.addEventListener("keydown", (event) => {
		if (event.key !== "Enter" || event.isComposing) return;
		event.preventDefault();
		dialog.close("yes");
	});
	field.select();
	return (await closed) === "yes" ? field.value.trim() || undefined : undefined;
}

export interface NewSession {
	cwd: string;
	name?: string;
	provider?: string;
	model?: string;
}

export interface NewSessionInput {
	roots: readonly string[];
	/** Directories of sessions that are there. */
	directories: readonly string[];
	/** Gives an error in words, or nothing when the session was made. */
	create(wanted: NewSession): Promise<string | undefined>;
}

export async function newSession({ roots, directories, create }: NewSessionInput): Promise<void> {
	const cwd = h("input", { class: "field", type: "text", id: "new-cwd" });
	cwd.value = directories[0] ?? roots[0] ?? "";
	setAttribute(cwd, "list", "new-cwds");
	const known = h("datalist", { id: "new-cwds" });
	for (const directory of new Set([...directories, ...roots])) known.append(option(directory, directory));
	const name = h("input", { class: "field", type: "text", id: "new-name", placeholder: "optional" });
	const model = h("input", { class: "field", type: "text", id: "new-model", placeholder: "as configured, or provider/model" });
	const note = h("p", { class: "composer-note", role: "status" });
	const submit = async () => {
		const [provider, ...rest] = model.value.trim().split("/");
		const chosen = model.value.trim() === "" ? {} : rest.length ? { provider, model: rest.join("/") } : { model: provider };
		const error = await create({ cwd: cwd.value.trim(), ...(name.value.trim() && { name: name.value.trim() }), ...chosen });
		if (error === undefined) dialog.close("made");
		else setText(note, error);
		note.classList.toggle("bad", error !== undefined);
	};
	const { dialog, closed } = open("New session", [
		h("label", { for: "new-cwd" }, "Directory"),
		cwd,
		known,
		h("label", { for: "new-name" }, "Name"),
		name,
		h("label", { for: "new-model" }, "Model"),
		model,
		note,
		h(
			"div",
			{ class: "choices" },
			h("button", { class: "choice primary", type: "button", onclick: () => void submit() }, "Start"),
			h("button", { class: "choice", type: "button", onclick: () => dialog.close("") }, "Cancel"),
		),
	]);
	dialog.addEventListener("keydown", (event) => {
		if (event.key !== "Enter" || event.isComposing || !(event.target instanceof HTMLInputElement)) return;
		event.preventDefault();
		void submit();
	});
	await closed;
}

export async function help(keys: readonly (readonly [string, string])[], lettersOn: boolean, setLetters: (on: boolean) => void): Promise<void> {
	const box = h("input", { type: "checkbox", id: "letters" });
	box.checked = lettersOn;
	box.addEventListener("change", () => setLetters(box.checked));
	const { dialog, closed } = open(
		"Keyboard",
		[
			h(
				"dl",
				{ class: "keys" },
				...keys.map(([key, what]) => h("div", {}, h("dt", {}, ...key.split(" ").map((part) => h("kbd", {}, part))), h("dd", {}, what))),
			),
			h("p", { class: "check-line" }, box, h("label", { for: "letters" }, "Single letters are shortcuts")),
			h("div", { class: "choices" }, h("button", { class: "choice", type: "button", onclick: () => dialog.close("") }, "Close")),
		],
		"wide",
	);
	await closed;
}

/** Something to read. */
export async function shown(title: string, body: HTMLElement, className = "wide"): Promise<void> {
	const { dialog, closed } = open(
		title,
		[body, h("div", { class: "choices" }, h("button", { class: "choice", type: "button", onclick: () => dialog.close("") }, "Close"))],
		className,
	);
	await closed;
}
