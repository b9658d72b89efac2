/** The record of a question about a tool call, as a line. */
import { cut, type Fields, fieldsOf, listOf, textOf } from "./values.ts";

const longestText = 120;

/** What was asked, who asked, the answer, and who or which rule gave it. */
export function approvalLine(record: Fields): string {
	const { outcome, by, scope, tool, text } = record;
	const [first = ""] = textOf(text).split("\n", 1);
	const asking = listOf(record.origin)
		.map(fieldsOf)
		.map(({ agent, id }) => [agent, id].map(textOf).filter(Boolean).join(" "))
		.join(" → ");
	const how = [textOf(outcome) || "decided", by ? `by ${textOf(by)}` : "", scope && scope !== "once" ? `(${textOf(scope)})` : ""];
	const rule = ruleText(fieldsOf(record.rule));
	const parts = [["Approval:", textOf(tool), cut(first, longestText)], asking ? ["asked by", asking] : [], how, rule ? ["rule:", rule] : []];
	return parts
		.map((part) => part.filter(Boolean).join(" "))
		.filter(Boolean)
		.join(" · ");
}

function ruleText({ action, tool, command, path, host, runsLater, because }: Fields): string {
	const words = [action, tool, runsLater === true ? "files that run later" : (command ?? path ?? host)].map(textOf).filter(Boolean).join(" ");
	return because && words ? `${words} (${textOf(because)})` : words;
}
