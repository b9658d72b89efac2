/** Requests to the server. The token is in this tab alone, and goes into a header and nowhere else. */

const tokenKey = "bowline-token";

/** A request that was refused, or got no answer (`status` 0). The message is for the reader. */
export class Refused extends Error {
	readonly status: number;
	readonly code: string;
	readonly details: Record<string, unknown>;

	constructor(status: number, code: string, message: string, details: Record<string, unknown> = {}) {
		super(message);
		this.status = status;
		this.code = code;
		this.details = details;
	}
}

export class Api {
	/** The token is missing, has expired or was revoked. */
	onSignedOut: (reason: string) => void = () => undefined;

	get hasToken(): boolean {
		return sessionStorage.getItem(tokenKey) !== null;
	}

	/** Trades a one-time code, or a token that was typed, for a token of this tab. */
	async login(credential: { code: string } | { token: string }): Promise<void> {
		const { token } = await this.#send<{ token: string }>("POST", "/v1/login", credential, undefined);
		sessionStorage.setItem(tokenKey, token);
	}

	signOut(reason: string): void {
		sessionStorage.removeItem(tokenKey);
		this.onSignedOut(reason);
	}

	get<Answer>(path: string): Promise<Answer> {
		return this.#signed<Answer>("GET", path, undefined);
	}

	post<Answer>(path: string, body: object = {}): Promise<Answer> {
		return this.#signed<Answer>("POST", path, body);
	}

	remove(path: string): Promise<void> {
		return this.#signed<void>("DELETE", path, undefined);
	}

	async download(path: string): Promise<Blob> {
		const response = await this.#fetch("GET", path, undefined, sessionStorage.getItem(tokenKey) ?? "");
		return response.blob();
	}

	async #signed<Answer>(method: string, path: string, body: object | undefined): Promise<Answer> {
		try {
			return await this.#send<Answer>(method, path, body, sessionStorage.getItem(tokenKey) ?? "");
		} catch (error) {
			if (error instanceof Refused && error.status === 401) this.signOut("Your sign-in has ended.");
			throw error;
		}
	}

	async #send<Answer>(method: string, path: string, body: object | undefined, token: string | undefined): Promise<Answer> {
		const response = await this.#fetch(method, path, body, token);
		return (response.status === 204 ? undefined : await response.json()) as Answer;
	}

	async #fetch(method: string, path: string, body: object | undefined, token: string | undefined): Promise<Response> {
		const headers: Record<string, string> = {};
		if (token !== undefined) headers.Authorization = `Bearer ${token}`;
		if (body) headers["Content-Type"] = "application/json";
		let response: Response;
		try {
			response = await fetch(path, { method, headers, cache: "no-store", ...(body && { body: JSON.stringify(body) }) });
		} catch {
			throw new Refused(0, "unreachable", "The server does not answer.");
		}
		if (response.ok) return response;
		throw await refusal(response);
	}
}

async function refusal(response: Response): Promise<Refused> {
	try {
		const { error } = (await response.json()) as { error: { code: string; message: string; details?: Record<string, unknown> } };
		return new Refused(response.status, error.code, error.message, error.details);
	} catch {
		// A proxy in between answers in its own words.
		return new Refused(response.status, "unknown", `The server answered ${response.status} ${response.statusText}.`);
	}
}
