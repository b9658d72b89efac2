/** Frames as bytes. A line of an agent is looked at by its head alone; each way of sending it is encoded once, however many readers there are. */

/** How our agents begin a line. Other lines are diagnostics that went astray. */
const eventHead = '{"seq":';
const typeHead = ',"type":"';
const responseHead = /^\{(?:"asOf":(\d+),)?"id":"s(\d+)","type":"response"/;
const otherHead = /^\{"type":"(\w+)"/;

export type LineHead =
	| { kind: "event"; seq: number; type: string }
	| { kind: "response"; asOf: number | undefined; request: number }
	| { kind: "directed"; type: string };

export function headOf(line: string): LineHead | undefined {
	if (line.startsWith(eventHead)) return eventHeadOf(line);
	const response = responseHead.exec(line);
	if (response) return { kind: "response", asOf: response[1] === undefined ? undefined : Number(response[1]), request: Number(response[2]) };
	const other = otherHead.exec(line);
	return other ? { kind: "directed", type: other[1] as string } : undefined;
}

/** Without a regular expression, which makes an array and a text for each number: most lines are deltas, and there are many. */
function eventHeadOf(line: string): LineHead | undefined {
	let at = eventHead.length;
	let seq = 0;
	for (let digit = line.charCodeAt(at) - 48; digit >= 0 && digit <= 9; digit = line.charCodeAt(++at) - 48) seq = seq * 10 + digit;
	if (at === eventHead.length || !line.startsWith(typeHead, at)) return undefined;
	at += typeHead.length;
	if (line.startsWith('message_update"', at)) return { kind: "event", seq, type: "message_update" };
	const type = /^\w+(?=")/.exec(line.slice(at, at + longestType))?.[0];
	return type === undefined ? undefined : { kind: "event", seq, type };
}
const longestType = 100;

/** Puts the asker's own id back into a response. */
export function withOwnId(line: string, id: string | number | undefined): string {
	const found = /"id":"s\d+",/.exec(line);
	if (!found) return line;
	const own = id === undefined ? "" : `"id":${JSON.stringify(id)},`;
	return line.slice(0, found.index) + own + line.slice(found.index + found[0].length);
}

/** Frames that are numbered but kept in memory only. */
const ephemeral: ReadonlySet<string> = new Set([
	"message_update",
	"tool_execution_update",
	"bash_execution_update",
	"subagent_progress",
	"setStatus",
	"setWidget",
	"setTitle",
	"set_editor_text",
]);

export function isDurable(type: string, line: string): boolean {
	if (ephemeral.has(type)) return false;
	if (type !== "extension_ui_request") return true;
	// What an extension shows, and does not ask. Its method is near the beginning of the line.
	const method = /"method":"(\w+)"/.exec(line.slice(0, 512))?.[1];
	return method === undefined || !ephemeral.has(method);
}

const headLength = (length: number) => (length < 126 ? 2 : length < 65536 ? 4 : 10);

/** The head of a text message, unmasked as a server sends it. */
function writeHead(frame: Buffer, at: number, length: number): void {
	frame[at] = 0x81;
	if (length < 126) frame[at + 1] = length;
	else if (length < 65536) {
		frame[at + 1] = 126;
		frame[at + 2] = length >>> 8;
		frame[at + 3] = length & 0xff;
	} else {
		frame[at + 1] = 127;
		frame.writeUInt32BE(Math.floor(length / 2 ** 32), at + 2);
		frame.writeUInt32BE(length >>> 0, at + 6);
	}
}

/** Messages of a WebSocket, one after the other, in one piece of memory. `starts`: where each begins, and the end. */
export function socketFrames(frames: readonly { json: string }[]): { bytes: Buffer; starts: number[] } {
	const starts = [0];
	const lengths: number[] = [];
	let end = 0;
	for (const { json } of frames) {
		const length = Buffer.byteLength(json);
		lengths.push(length);
		end += headLength(length) + length;
		starts.push(end);
	}
	const bytes = Buffer.allocUnsafe(end);
	for (let index = 0; index < frames.length; index++) {
		const at = starts[index] as number;
		const length = lengths[index] as number;
		writeHead(bytes, at, length);
		bytes.write((frames[index] as { json: string }).json, at + headLength(length), length, "utf8");
	}
	return { bytes, starts };
}

/** The same of lines. They are copied as a whole to the end of the new memory, and each moves to its place before it, where its head fits in. */
export function socketFramesOf({ bytes: lines, ends }: { bytes: Buffer; ends: readonly number[] }): { bytes: Buffer; starts: number[] } {
	const count = ends.length;
	const starts = [0];
	let total = 0;
	let from = 0;
	for (let index = 0; index < count; index++) {
		const length = (ends[index] as number) - from - 1;
		total += headLength(length) + length;
		starts.push(total);
		from = ends[index] as number;
	}
	const bytes = Buffer.allocUnsafe(total);
	const shift = total - (lines.length - 1);
	lines.copy(bytes, shift, 0, lines.length - 1);
	from = shift;
	for (let index = 0; index < count; index++) {
		const next = (ends[index] as number) + shift;
		const length = next - from - 1;
		const at = starts[index] as number;
		bytes.copyWithin(at + headLength(length), from, next - 1);
		writeHead(bytes, at, length);
		from = next;
	}
	return { bytes, starts };
}

/** The text of a message that `socketFrames` made. */
export function bodyOf(bytes: Buffer, start: number, end: number): string {
	const length = bytes[start + 1] as number;
	return bytes.toString("utf8", start + (length < 126 ? 2 : length === 126 ? 4 : 10), end);
}

/** How a connection wants its frames: messages of a socket, those with the session's id, server-sent events, or lines. */
export type Encoding = "socket" | "many" | "events" | "lines";

export function encoded(json: string, encoding: Encoding, sessionId: string, seq?: number): Buffer {
	switch (encoding) {
		case "socket":
			return socketFrames([{ json }]).bytes;
		case "many":
			return socketFrames([{ json: withSession(json, sessionId) }]).bytes;
		case "events":
			return Buffer.from(`${seq === undefined ? "" : `id: ${seq}\n`}data: ${json}\n\n`);
		case "lines":
			return Buffer.from(`${json}\n`);
	}
}

/** A frame that names its session; one that does so already stays as it is. */
function withSession(json: string, sessionId: string): string {
	if (/^\{"type":"\w+","sessionId":/.test(json)) return json;
	return `{"sessionId":${JSON.stringify(sessionId)}${json === "{}" ? "" : ","}${json.slice(1)}`;
}
