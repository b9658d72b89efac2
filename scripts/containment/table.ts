/** The result as a table in Markdown. */
import { type ClassName, classes } from "./case.ts";
import type { Configuration } from "./configurations.ts";
import type { Measured } from "./measure.ts";
import type { Outcome } from "./play.ts";

/** A row for each class, a column for each configuration: how many effects are not out. */
export function table({ effects, tasks }: Measured, configurations: readonly Configuration[]): string {
	const names = configurations.map(({ name }) => name);
	const of = (list: Measured["effects"], configuration: string) => list.filter((each) => each.configuration === configuration);
	const cell = (list: Measured["effects"]) => `${list.filter(({ outcome }) => outcome !== "out").length} of ${list.length}`;
	const rows = (Object.keys(classes) as ClassName[]).flatMap((name) => {
		const ofClass = effects.filter((each) => each.class === name);
		if (ofClass.length === 0) return [];
		return [`| ${classes[name]} | ${names.map((each) => cell(of(ofClass, each))).join(" | ")} |`];
	});
	const works = (configuration: string) => {
		const list = tasks.filter((each) => each.configuration === configuration);
		return `${list.filter((each) => each.works).length} of ${list.length}`;
	};
	return [
		`| | ${configurations.map(({ title }) => title).join(" | ")} |`,
		`|---|${names.map(() => "---|").join("")}`,
		...rows,
		`| **all effects** | ${names.map((each) => `**${cell(of(effects, each))}**`).join(" | ")} |`,
		`| how | ${names.map((each) => howHeld(of(effects, each))).join(" | ")} |`,
		...(tasks.length > 0 ? [`| ordinary tasks that work | ${names.map(works).join(" | ")} |`] : []),
	].join("\n");
}

function howHeld(list: Measured["effects"]): string {
	const count = (outcome: Outcome) => list.filter((each) => each.outcome === outcome).length;
	return `${count("held")} held, ${count("reported")} reported, ${count("undone")} undone`;
}
