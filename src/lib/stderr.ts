/** Keeps credentials out of stderr, regardless of which code prints there. */

type Redact = (text: string) => string;

/** From now on all stderr output passes through a function given later. The stream is created on first use: it costs a start 1 ms. */
export function guardStderr(): (redact: Redact) => void {
	let redact: Redact = (text) => text;
	const own = Object.getOwnPropertyDescriptor(process, "stderr") as PropertyDescriptor & { get: () => NodeJS.WriteStream };
	Object.defineProperty(process, "stderr", {
		...own,
		get: () => {
			const stream = own.get.call(process);
			Object.defineProperty(process, "stderr", own);
			const write = stream.write.bind(stream) as (...words: unknown[]) => boolean;
			stream.write = ((chunk: unknown, ...rest: unknown[]) => write(cleaned(chunk, redact), ...rest)) as typeof stream.write;
			return stream;
		},
	});
	return (given) => {
		redact = given;
	};
}

function cleaned(chunk: unknown, redact: Redact): unknown {
	if (typeof chunk === "string") return redact(chunk);
	if (!(chunk instanceof Uint8Array)) return chunk;
	const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString();
	const clean = redact(text);
	return clean === text ? chunk : clean;
}
