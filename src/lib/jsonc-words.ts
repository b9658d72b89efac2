/** What the parser of JSON with comments calls an error, as a sentence: `CommaExpected` becomes "comma expected". */
export function parseErrorInWords(code: string): string {
	return code.replace(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
}
