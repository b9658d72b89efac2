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

/** The password in an address, as written and decoded. */
export function passwordsIn(url: string | undefined): string[] {
	const written = /^(?:[a-z][a-z0-9+.-]*:\/\/)?[^/?#:@]*:([^/?#]*)@/i.exec(url ?? "")?.[1];
	if (!written) return [];
	try {
		return [written, decodeURIComponent(written)];
	} catch {
		return [written]; // A percent sign that is not an escape.
	}
}
