/** Colours code. The highlighter reports what it finds, and elements are made from it; no markup in between. */
import highlighter from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import lua from "highlight.js/lib/languages/lua";
import makefile from "highlight.js/lib/languages/makefile";
import markdown from "highlight.js/lib/languages/markdown";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import scss from "highlight.js/lib/languages/scss";
import shell from "highlight.js/lib/languages/shell";
import sql from "highlight.js/lib/languages/sql";
import swift from "highlight.js/lib/languages/swift";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { append, h, textNode } from "./dom.ts";

const languages = {
	bash,
	c,
	cpp,
	csharp,
	css,
	diff,
	dockerfile,
	go,
	ini,
	java,
	javascript,
	json,
	kotlin,
	lua,
	makefile,
	markdown,
	php,
	python,
	ruby,
	rust,
	scss,
	shell,
	sql,
	swift,
	typescript,
	xml,
	yaml,
};

/** Longer code stays plain: colours are not worth a page that hangs. */
const longestColoured = 40_000;

/** Builds elements from the output of the highlighter. */
class Elements {
	readonly root = document.createDocumentFragment();
	#open: (DocumentFragment | HTMLElement)[] = [this.root];

	addText(text: string): void {
		append(this.#open.at(-1) as ParentNode, text);
	}
	openNode(scope: string): void {
		const [name = ""] = scope.split(".");
		const element = h("span", { class: `h-${name}` });
		this.#open.at(-1)?.append(element);
		this.#open.push(element);
	}
	closeNode(): void {
		if (this.#open.length > 1) this.#open.pop();
	}
	startScope(scope: string): void {
		this.openNode(scope);
	}
	endScope(): void {
		this.closeNode();
	}
	__addSublanguage(other: unknown): void {
		this.#open.at(-1)?.append((other as Elements).root);
	}
	closeAllNodes(): void {
		this.#open.length = 1;
	}
	finalize(): void {
		this.closeAllNodes();
	}
	toHTML(): string {
		return "";
	}
}

export type Colour = (code: string, language: string) => Node;

/** A function that gives code its colours, or the code as it is when the language is not known. */
export function colouring(): Colour {
	const own = highlighter.newInstance();
	for (const [name, definition] of Object.entries(languages)) own.registerLanguage(name, definition);
	own.configure({ __emitter: Elements } as unknown as Parameters<typeof own.configure>[0]);
	return (code, language) => {
		if (!language || code.length > longestColoured || !own.getLanguage(language)) return textNode(code);
		const { _emitter } = own.highlight(code, { language, ignoreIllegals: true });
		return (_emitter as unknown as Elements).root;
	};
}

/** The language of a file, by its name. */
export function languageOf(path: string): string {
	const name = path.split(/[/\\]/).at(-1) ?? "";
	if (/^(?:dockerfile|makefile)$/i.test(name)) return name.toLowerCase();
	const ending = /\.([A-Za-z0-9]{1,10})$/.exec(name)?.[1]?.toLowerCase() ?? "";
	const known: Record<string, string> = {
		mts: "typescript",
		cts: "typescript",
		mjs: "javascript",
		cjs: "javascript",
		jsonl: "json",
		toml: "ini",
		svg: "xml",
		vue: "xml",
	};
	return Object.hasOwn(known, ending) ? (known[ending] as string) : ending;
}
