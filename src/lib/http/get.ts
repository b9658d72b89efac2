/** Fetches a small text from a plain http address, or returns nothing when it does not arrive in time. */
import { get } from "node:http";

const sizeLimit = 4 * 1024 * 1024;

export function getText(url: string, timeoutMs: number, headers: Record<string, string> = {}): Promise<string | undefined> {
	return new Promise((resolve) => {
		const signal = AbortSignal.timeout(timeoutMs);
		const request = get(url, { headers, signal, agent: false }, (answer) => {
			const chunks: Buffer[] = [];
			let size = 0;
			answer.on("data", (chunk: Buffer) => {
				chunks.push(chunk);
				size += chunk.length;
				if (size > sizeLimit) request.destroy();
			});
			answer.on("end", () => resolve(answer.statusCode === 200 ? Buffer.concat(chunks).toString("utf8") : undefined));
			answer.on("close", () => resolve(undefined));
		});
		request.on("error", () => resolve(undefined));
	});
}
