/** The model and the permission mode of the session, to be chosen from what there is. */
import { h, option, setAttribute } from "../../page/dom.ts";
import { fieldsOf, listOf, textOf } from "../../page/values.ts";
import type { PermissionMode } from "../../protocol/permissions.ts";
import type { Answer, Frame } from "./link.ts";

const modes: Record<PermissionMode, string> = { plan: "Plan", ask: "Ask", edit: "Edit", full: "Full" };

export interface PickersInput {
	/** A question that needs no seat. */
	ask(command: Frame): Promise<Answer>;
	/** A command that needs the seat. Gives whether it was taken. */
	drive(command: Frame, complaint: string): Promise<boolean>;
}

export class Pickers {
	readonly element = h("div", { class: "pickers" });
	#input: PickersInput;
	#model = h("select", { class: "picker", "aria-label": "Model", title: "Model" });
	#mode = h("select", { class: "picker", "aria-label": "Permission mode", title: "Permission mode: how much is allowed without asking" });
	#session = "";
	#currentModel = "";
	#currentMode = "";

	constructor(input: PickersInput) {
		this.#input = input;
		this.element.append(this.#model, this.#mode);
		this.#mode.append(...Object.entries(modes).map(([value, name]) => option(value, name)));
		this.#model.addEventListener("change", () => void this.#chooseModel());
		this.#mode.addEventListener("change", () => void this.#chooseMode());
		this.hide();
	}

	hide(): void {
		this.element.hidden = true;
		this.#session = "";
	}

	/** `state`: what `get_state` said. The models are asked for once for each session that is opened. */
	show(session: string, state: unknown, mayDrive: boolean): void {
		const { model, permissionMode } = fieldsOf(state);
		this.#currentModel = keyOf(model);
		this.#currentMode = textOf(permissionMode);
		this.#model.disabled = !mayDrive;
		this.#mode.disabled = !mayDrive;
		this.#mode.hidden = !(this.#currentMode in modes);
		this.element.hidden = false;
		if (this.#session !== session) {
			this.#session = session;
			this.#model.replaceChildren();
			if (mayDrive) void this.#readModels(session);
		}
		this.#restore();
	}

	async #readModels(session: string): Promise<void> {
		const answer = await this.#input.ask({ type: "get_available_models" });
		if (this.#session !== session || !answer.success) return;
		const groups = Map.groupBy(listOf(fieldsOf(answer.data).models), (model) => textOf(fieldsOf(model).provider));
		this.#model.replaceChildren(
			...[...groups].map(([provider, models]) => {
				const group = h("optgroup", {}, ...models.map((model) => option(keyOf(model), textOf(fieldsOf(model).name) || textOf(fieldsOf(model).id))));
				setAttribute(group, "label", provider);
				return group;
			}),
		);
		this.#restore();
	}

	/** What is in use may not be among what can be chosen: it is shown all the same. */
	#restore(): void {
		const key = this.#currentModel;
		if (![...this.#model.options].some(({ value }) => value === key)) {
			const id = key === "" ? "No model" : textOf(listOf(JSON.parse(key))[1]);
			this.#model.prepend(option(key, id));
		}
		this.#model.value = key;
		this.#mode.value = this.#currentMode;
	}

	async #chooseModel(): Promise<void> {
		if (this.#model.value === "") return this.#restore();
		const chosen = this.#model.value;
		const [provider, modelId] = JSON.parse(chosen) as [string, string];
		if (await this.#input.drive({ type: "set_model", provider, modelId }, "The model was not changed")) this.#currentModel = chosen;
		this.#restore();
	}

	async #chooseMode(): Promise<void> {
		const mode = this.#mode.value;
		if (await this.#input.drive({ type: "set_permission_mode", mode }, "The permission mode was not changed")) this.#currentMode = mode;
		this.#restore();
	}
}

function keyOf(model: unknown): string {
	const { provider, id } = fieldsOf(model);
	return textOf(id) === "" ? "" : JSON.stringify([textOf(provider), textOf(id)]);
}
