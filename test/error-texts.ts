/** What is wrong with a text that people read when something fails. */

/** An introduction that stands there twice, as in `Error: Error: no`; `a: a: b` of paths and addresses has no space. */
const doubledPrefix = /(?:^|[.:] )([A-Z][\w' -]*|[a-z]+_[a-z_]+): \1: /i;
/** Two stops where one sentence ends. Dots that begin a name or go up a directory have no space behind them. */
const doubledStop = /(?:[^.\s/`"(]\.\.|[!?:;,…]\.|\. \.)(?=\s|$)/;
/** The protocol names the type of a command that has none. */
const leftOver = /\[object \w+\]|(?<!Unknown command): undefined\b|\bundefined[.,]/;

export function flawsIn(text: string): string[] {
	return [
		...(doubledPrefix.test(text) ? ["doubled prefix"] : []),
		...(doubledStop.test(text) ? ["doubled stop"] : []),
		...(leftOver.test(text) ? ["left-over of the program"] : []),
	];
}
