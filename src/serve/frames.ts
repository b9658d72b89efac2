/** Frames as bytes. A line of an agent is looked at by its head alone; each way of sending it is encoded once, however many readers there are. */

/** How our agents begin a line. Other lines are diagnostics that went astray. */
const eventHead = /^\{"seq":(\d+),"type":"(\w+)"/;
const responseHead = /^\{(?:"asOf":(\d+),)?"id":"s(\d+)","type":"response"/;
const otherHead = /^\{"type":"(\w+)"/;

export type LineHead =
	| { kind: "event"; seq: number; type: string }
	| { kind: "response"; asOf: number | undefined; request: number }
	| { kind: "directed"; type: string };

export function headOf(line: string): LineHead | undefined {
	const event = eventHead.exec(line);
	if (event) return { kind: "event", seq: Number(event[1]), type: event[2] as string };
	const response = responseHead.exec(line);
	if (response) return { kind: "response", asOf: response[1] === undefined ? undefined : Number(response[1]), request: Number(response[2]) };
	const other = otherHead.exec(line);
	return other ? { kind: "directed", type: other[1] as string } : undefined;
}

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

/** One text message of a WebSocket, unmasked as a server sends it. */
export function socketFrame(body: Buffer): Buffer {
	const { length } = body;
	const head = length < 126 ? 2 : length < 65536 ? 4 : 10;
	const frame = Buffer.allocUnsafe(head + length);
	frame[0] = 0x81;
	if (head === 2) frame[1] = length;
	else if (head === 4) {
		frame[1] = 126;
		frame.writeUInt16BE(length, 2);
	} else {
		frame[1] = 127;
		frame.writeUInt32BE(Math.floor(length / 2 ** 32), 2);
		frame.writeUInt32BE(length >>> 0, 6);
	}
	body.copy(frame, head);
	return frame;
}

/** How a connection wants its frames: messages of a socket, those with the session's id, server-sent events, or lines. */
export type Encoding = "socket" | "many" | "events" | "lines";

export function encoded(json: string, encoding: Encoding, sessionId: string, seq?: number): Buffer {
	switch (encoding) {
		case "socket":
			return socketFrame(Buffer.from(json));
		case "many":
			return socketFrame(Buffer.from(withSession(json, sessionId)));
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
