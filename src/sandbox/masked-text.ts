/** Text of a file of variables with placeholders for the values. What is not understood is not shown: then the whole text is replaced. */

export interface MaskOptions {
	/** Only what looks like a secret: the rest is known from elsewhere. */
	onlySecrets?: boolean;
}

const placeholder = "masked-by-sandbox";
export const maskedWhole = `# ${placeholder}: this file has lines that are not variables, so none of it is shown\n`;

/** An optional `export`, a name, `=` or `: `. Patterns are about lines that hold no line break. */
const assignment = /^(\s*(?:(?:export|set|setx|declare -x)\s+)?)([A-Za-z_][\w.-]{0,127})(\s*=\s*|\s*:(?:\s+|$))/;
const secretName =
	/secret|token|passw|passphrase|pwd|credential|private|auth|dsn|signing|salt|cert|webhook|cookie|jwt|bearer|(?:^|[_.-])(?:pass|pin|otp|pat|sas|key|keys)(?:[_.-]|$)|(?:api|access|account|crypt\w*|master|license)_?key/i;
const secretWord = /secret|token|passw|passphrase|pwd|credential|private|\bkeys?\b|\bpin\b|\bauth\b|login/i;

/** Returns the masked text, or the same text where nothing in it has to be masked. */
export function maskedText(content: Buffer, { onlySecrets = false }: MaskOptions = {}): string {
	const text = decoded(content);
	if (text === undefined) return maskedWhole;
	const pieces = text.split(/(\r\n|\n|\r)/);
	let masked = "";
	for (let at = 0; at < pieces.length; at += 2) {
		const line = pieces[at] ?? "";
		const end = pieces[at + 1] ?? "";
		if (line.trim() === "") masked += (onlySecrets ? line : "") + end;
		else if (/^\s*#/.test(line)) masked += maskedComment(line, onlySecrets) + end;
		else if (/^\s*export(\s+[A-Za-z_]\w{0,127})+\s*$/.test(line)) masked += line + end;
		else {
			const found = valueAt(pieces, at);
			if (!found) return maskedWhole;
			const { head, name, value, quote, last } = found;
			const isKept = onlySecrets && !isSecret(name, value);
			masked += isKept ? pieces.slice(at, last + 1).join("") : head + quote + placeholderFor(name, value) + quote;
			at = last;
			masked += pieces[at + 1] ?? "";
		}
	}
	return masked;
}

/** The name of a credential with what stands between it and the value. */
const credential = /(?:_authToken|_auth|_password|npmAuthToken|npmAuthIdent|passw(?:or)?d|token|secret|username|login)["']?(?=[\s=:])\s*[=:]?\s*/i;

/** Returns the text of a package manager's file without tokens and passwords, or the same text where it has none. Names of variables in their place stay. */
export function withoutCredentials(content: Buffer): string {
	const text = decoded(content);
	if (text === undefined) return maskedWhole;
	return text
		.split(/(\r\n|\n|\r)/)
		.map(withoutCredential)
		.join("");
}

function withoutCredential(line: string): string {
	const bare = line.replace(/(:\/\/)[^/@\s$]{1,1000}@/g, `$1${placeholder}@`);
	const found = credential.exec(bare);
	if (!found) return bare;
	const start = found.index + found[0].length;
	const value = bare.slice(start);
	if (value === "" || /^["']?\$\{?\w+(?:[?-][^}]*)?\}?["']?$/.test(value)) return bare;
	const [quote = ""] = /^["']/.exec(value) ?? [];
	return bare.slice(0, start) + quote + placeholder + quote;
}

function decoded(content: Buffer): string | undefined {
	try {
		const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(content);
		return text.includes("\0") ? undefined : text;
	} catch {
		return undefined;
	}
}

interface Value {
	/** All in front of the value. */
	head: string;
	name: string;
	value: string;
	quote: string;
	/** Where in the pieces its last line is. */
	last: number;
}

/** Reads the assignment that begins in a line, with the lines that belong to its value. */
function valueAt(pieces: readonly string[], at: number): Value | undefined {
	const line = pieces[at] ?? "";
	const [head, , name] = assignment.exec(line) ?? [];
	if (head === undefined || name === undefined) return undefined;
	const rest = line.slice(head.length);
	// The last line of a key in base64 looks like a name without a value.
	if ((rest === "" || rest.startsWith("=")) && /[a-z]/.test(name) && /[A-Z0-9]/.test(name) && !/[_.-]/.test(name)) return undefined;
	const [quote = ""] = /^["'`]/.exec(rest) ?? [];
	if (quote !== "") return quotedValue(pieces, at, { head, name, quote });
	let last = at;
	// A backslash at the end joins the next line.
	while (/\\$/.test(pieces[last] ?? "") && last + 2 < pieces.length) last += 2;
	const value = [rest, ...pieces.slice(at + 1, last + 1)].join("").replace(/(?<!\s)\s+#.*$/s, "");
	return { head, name, value: value.trim(), quote, last };
}

/** The value ends at the same quote, perhaps lines below. What follows it in its last line belongs to it or is a comment: it is not shown. */
function quotedValue(pieces: readonly string[], at: number, given: Pick<Value, "head" | "name" | "quote">): Value | undefined {
	const { head, quote } = given;
	let value = "";
	for (let last = at; last < pieces.length; last += 2) {
		const line = last === at ? (pieces[at] ?? "").slice(head.length + 1) : (pieces[last] ?? "");
		for (let index = 0; index < line.length; index += 1) {
			if (line[index] === "\\" && quote !== "'") index += 1;
			else if (line[index] === quote) {
				const after = line.slice(index + 1);
				// Another piece in quotes may go on in the next line.
				if (/["'`]|\\$/.test(after.replace(/\s#.*$/, ""))) return undefined;
				return { ...given, value: value + line.slice(0, index), last };
			}
		}
		value += `${line}\n`;
	}
	return undefined;
}

/** Programs check the shape of a value before they use it: numbers stay numbers, addresses stay addresses, and long values stay long. */
function placeholderFor(name: string, value: string): string {
	if (value === "" || /^(true|false|yes|no|on|off|null|none)$/i.test(value)) return value;
	if (/^-?\d+(\.\d+)?$/.test(value)) return numbers[value.replace(/^-|\..*$/g, "").length - 1] ?? "100000";
	const [, scheme] = /^([a-z][a-z0-9+.-]{0,19}):\/\//i.exec(value) ?? [];
	if (scheme !== undefined && !secretName.test(scheme)) return `${scheme}://masked.invalid/${placeholder}`;
	if (value.length < 255 && /^[^\s@:/]+@[^\s@:/]+\.[^\s@:/]+$/.test(value) && !secretName.test(name)) return `${placeholder}@masked.invalid`;
	if (/^\{.*\}$/s.test(value)) return "{}";
	if (/^\[.*\]$/s.test(value)) return "[]";
	const length = value.length <= placeholder.length ? 0 : value.length <= 32 ? 32 : 64;
	return length === 0 ? placeholder : `${placeholder}-`.repeat(4).slice(0, length);
}

/** Of one digit, two and so on. Ports below 1024 cannot be opened. */
const numbers = ["1", "10", "100", "1024", "10240"];

function isSecret(name: string, value: string): boolean {
	if (value === "" || /^(true|false|yes|no|on|off|null|none|\d{1,5})$/i.test(value)) return false;
	if (/^\$\{?\w+\}?$/.test(value)) return false;
	return secretName.test(name) || /-----BEGIN|:\/\/[^/\s:@]*:[^/\s@]*@/.test(value) || isRandom(value);
}

/** Long, without the separators of words and paths, and with letters and digits mixed. */
const isRandom = (value: string) =>
	/(?:^|[^A-Za-z0-9+/=_-])(?=[A-Za-z0-9+/=_-]*\d)(?=[A-Za-z0-9+/=_-]*[A-Za-z])[A-Za-z0-9+/=_-]{20,}/.test(` ${value}`) &&
	!/^(\.{0,2}\/|[a-z]:\\|https?:\/\/)/i.test(value);

/** Plain words stay, and variables that are commented out are masked as others are. */
function maskedComment(line: string, onlySecrets: boolean): string {
	const [mark = ""] = /^\s*#+!?\s?/.exec(line) ?? [];
	const text = line.slice(mark.length);
	const found = valueAt([text], 0);
	if (found) {
		const { head, name, value, quote } = found;
		return onlySecrets && !isSecret(name, value) ? line : mark + head + quote + placeholderFor(name, value) + quote;
	}
	if (onlySecrets) return isSecret("", text) ? `${mark}${placeholder}` : line;
	if (secretWord.test(text) || /[=:]\S/.test(text)) return `${mark}${placeholder}`;
	return (
		mark +
		text.replace(/\S+/g, (word) => (/^\(?([A-Za-z]?[a-z'-]{0,15}|[A-Z_]{1,24})[.,;:!?)]{0,2}$/.test(word) || /^[-=*#~_]+$/.test(word) ? word : "…"))
	).trimEnd();
}
