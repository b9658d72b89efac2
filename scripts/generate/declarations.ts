/** Reads exported declarations with their comments from TypeScript sources, for the API page. It knows the style of this repository, not all of TypeScript. */

export interface Member {
	/** The signature in one line, without a body. */
	signature: string;
	name: string;
	doc: string;
}

export interface Declaration {
	doc: string;
	/** The first line without its brace: `interface Name extends Other`. */
	head: string;
	/** Of interfaces and classes; of others the list is empty. */
	members: Member[];
	/** The whole text in one line, for types and functions. */
	signature: string;
}

const commentText = (comment: string | undefined) =>
	(comment ?? "")
		.replace(/^\s*\/\*\*|\*\/\s*$/g, "")
		.replace(/^\s*\* ?/gm, "")
		.replace(/\s+/g, " ")
		.trim();

const oneLine = (text: string) =>
	text
		.replace(/\/\*\*.*?\*\/|\/\/[^\n]*\n/gs, "\n")
		.replace(/\s+/g, " ")
		.replace(/\( /g, "(")
		.replace(/,? \)/g, ")")
		.trim();

/** How deep the text is inside of brackets at its end. The arrow of a function type closes nothing. */
function depthOf(text: string): number {
	let depth = 0;
	for (const [sign] of text.replace(/=>/g, "").matchAll(/[[({<\])}>]/g)) depth += "[({<".includes(sign) ? 1 : -1;
	return depth;
}

/** Optional parameters are written with a question mark in declarations. */
const withoutDefaults = (text: string) =>
	text.replace(/\{ [^{}]* \}: (\w+) = \{\}/g, "options?: $1").replace(/(\w+): ([\w.<>[\]| ]+) = [^,)]+/g, "$1?: $2");

export function declarationOf(source: string, name: string): Declaration {
	const pattern = new RegExp(`((?:^/\\*\\*(?:(?!\\*/)[^])*?\\*/\\n)?)^export ((?:async )?(?:interface|class|type|function|const) ${name}\\b)`, "m");
	const found = pattern.exec(source);
	if (!found) throw new Error(`There is no exported declaration of ${name}`);
	const [whole, comment = "", opening = ""] = found;
	const start = found.index + whole.length - opening.length;
	const doc = commentText(comment);
	if (/^(async )?function/.test(opening)) return { doc, ...functionAt(source, start) };
	if (opening.startsWith("interface") || opening.startsWith("class")) {
		const brace = source.indexOf("{\n", start);
		const isEmpty = source.slice(start).search(/\{\}\n/) !== -1 && source.slice(start).search(/\{\}\n/) < brace - start;
		const head = oneLine(source.slice(start, isEmpty ? source.indexOf("{}", start) : brace));
		const body = isEmpty ? "" : source.slice(brace + 2, source.indexOf("\n}", brace) + 1);
		return { doc, head, signature: head, members: membersOf(body, opening.startsWith("class")) };
	}
	const end = /;\n(?=\n|\/|e|$)/g;
	end.lastIndex = start;
	const text = oneLine(source.slice(start, end.exec(source)?.index));
	// A constant that is a function reads better as one.
	const signature = text.replace(/^const (\w+) = (\(.*?\): .+?) => .*/, "function $1$2");
	return { doc, head: signature, signature, members: [] };
}

function functionAt(source: string, start: number): Omit<Declaration, "doc"> {
	const text = oneLine(source.slice(start, source.indexOf(" {\n", start))).replace(/^async /, "");
	const signature = withoutDefaults(text);
	return { head: signature, signature, members: [] };
}

/** Members of an interface or a class that callers may use. */
function membersOf(body: string, isClass: boolean): Member[] {
	const members: Member[] = [];
	let comment = "";
	let text = "";
	let isBody = false;
	for (const line of body.split("\n")) {
		if (isBody) {
			isBody = line !== "\t}";
			continue;
		}
		if (!text && /^\t\/\*\*|^\t \*/.test(line)) {
			comment += `${line}\n`;
			continue;
		}
		if (!text && /^\s*(\/\/.*)?$/.test(line)) continue;
		text += `${line}\n`;
		const opensBody = isClass && line.endsWith("{") && depthOf(text) === 1;
		if (!opensBody && (depthOf(text) !== 0 || !line.endsWith(";"))) continue;
		const signature = withoutDefaults(oneLine(text.replace(/(;| \{)\s*$/, "")).replace(/^(async |readonly |override |get )+/g, ""));
		const name = /^[\w$]+/.exec(signature)?.[0] ?? "";
		const isPublic = name && !/^(#|private|constructor\b|name = )/.test(signature);
		// The line that implements overloads is not one of them.
		const isImplementation = opensBody && members.some((member) => member.name === name);
		const isGetter = text.trim().startsWith("get ");
		if (isPublic && !isImplementation)
			members.push({ name, doc: commentText(comment), signature: isGetter ? signature.replace("()", "") : signature });
		comment = "";
		text = "";
		isBody = opensBody;
	}
	return members;
}
