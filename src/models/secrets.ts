/** Finds credentials in `models.jsonc` and in addresses. Pure. */
import type { CustomProvider } from "./custom.ts";
import type { Environment } from "./routes.ts";
import { variablesIn } from "./values.ts";

/** Whether a header of this name is secret. */
export const holdsSecret = (header: string) => /auth|key|token|secret|cookie/i.test(header);

/** The headers of a provider of the file and of its models. */
export function headersIn(custom: CustomProvider): [name: string, value: string][] {
	const models = [...custom.models, ...Object.values(custom.modelOverrides)];
	return [custom.headers, ...models.map((model) => model.headers)].flatMap((headers) => Object.entries(headers));
}

/** The variables that keys and headers of a provider take their content from. */
export function namesIn(custom: CustomProvider, env: Environment): string[] {
	const values = [custom.apiKey ?? "", ...headersIn(custom).map(([, value]) => value)];
	return values.flatMap((value) => variablesIn(value, env));
}

/** As `namesIn`, from the raw text of the file: it prefers one name too many to one too few. */
export function namesInText(content: string): string[] {
	const referred = [...content.matchAll(/\$\{?([A-Za-z_]\w*)|"apiKey"\s*:\s*"([A-Z][A-Z0-9_]*)"/g)].map((match) => match[1] ?? match[2] ?? "");
	const headers = [...content.matchAll(/"headers"\s*:\s*\{((?:\$\{\w+\}|[^}])*)\}/g)].map((match) => match[1] ?? "");
	return [...referred, ...headers.flatMap((text) => [...text.matchAll(/:\s*"([A-Z][A-Z0-9_]*)"/g)].map((match) => match[1] ?? ""))];
}

/** The addresses that a provider of the file is reached at. */
export function addressesIn(custom: CustomProvider): (string | undefined)[] {
	return [custom.baseUrl, ...[...custom.models, ...Object.values(custom.modelOverrides)].map((model) => model.fields.baseUrl)];
}

/** Prefixes of tokens, or a run of letters and digits too long to be written by a person. */
const tokenLike = /^(?:sk|pk|rk|key|ghp|gho|xox[abp]|AIza|eyJ)[-_A-Za-z0-9]{12,}$|^(?=.*\d)(?=.*[a-z])(?:(?=.*[A-Z])[A-Za-z0-9]{20,}|[0-9a-f]{32,})$/;

interface AddressParts {
	user: string;
	password: string;
	query: [name: string, value: string][];
	segments: string[];
}

/** Examined as text: an address that cannot be parsed still contains its key. */
function partsOf(url: string): AddressParts {
	const [, authority = "", rest = ""] = addressOf(url) ?? [];
	const [user = "", ...password] = authority.split(":");
	const [path = "", query = ""] = rest.split("#")[0]?.split(/\?(.*)/s) ?? [];
	return {
		user,
		password: password.join(":"),
		query: query
			.split("&")
			.flatMap((pair): [string, string][] =>
				pair.includes("=") ? [[pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]] : [["", pair]],
			),
		segments: path.split("/").slice(1),
	};
}

/** What is in front of the last `@`, and what follows it. In an address that can be parsed the `@` is in front of the path. */
function addressOf(url: string): RegExpExecArray | null {
	const pattern = URL.canParse(url) ? /^(?:[a-z][a-z0-9+.-]*:)?(?:\/\/)?(?:([^/?#]*)@)?(.*)$/is : /^(?:[^/@]*:\/\/)?(?:(.*)@)?(.*)$/is;
	return pattern.exec(url);
}

/** The credentials in an address: password, a user name that is a token, parameters and segments of the path. As they are written and as they are meant. */
export function secretsInAddress(url: string | undefined): string[] {
	if (!url) return [];
	const { user, password, query, segments } = partsOf(url);
	const isToken = user !== "" && (password === "" || tokenLike.test(user));
	const values = query.flatMap(([name, value]) => (holdsSecret(name) || tokenLike.test(value) ? [value] : []));
	// The id of an account says who pays, and is not a credential.
	const tokens = segments.filter((segment, index) => tokenLike.test(segment) && segments[index - 1] !== "accounts");
	return [password, ...(isToken ? [user] : []), ...values, ...tokens].filter((value) => value !== "").flatMap(spellings);
}

function spellings(written: string): string[] {
	try {
		return [...new Set([written, decodeURIComponent(written)])];
	} catch {
		return [written]; // A percent sign that is not an escape.
	}
}

/** An address that is safe to show: without user name and password, and without other credentials. `known`: values that are credentials. */
export function publicAddress(url: string, known: readonly string[]): string {
	const [, authority] = addressOf(url) ?? [];
	const found = [...known, ...secretsInAddress(url)].filter((secret) => secret !== "" && url.includes(secret));
	const bare = authority === undefined ? url : url.replace(`${authority}@`, "");
	return found.sort((a, b) => b.length - a.length).reduce((shown, secret) => shown.replaceAll(secret, "[redacted]"), bare);
}

/** The values of variables whose names say that they are credentials. */
export function secretVariables(env: Environment): string[] {
	return Object.entries(env).flatMap(([name, value]) =>
		value && value.length >= 8 && /(?:_|^)(?:KEY|TOKEN|SECRET|PASSWORD)$/.test(name) ? [value] : [],
	);
}
