/** The terminal: taken over completely, and restored however the program ends. */
import type { Line, Style } from "./text.ts";

const codes: Record<Style, number> = {
	bold: 1,
	dim: 2,
	italic: 3,
	underline: 4,
	reverse: 7,
	strike: 9,
	red: 31,
	green: 32,
	yellow: 33,
	blue: 34,
	magenta: 35,
	cyan: 36,
};

/** The other screen, no wrapping at the edge, pasted text in brackets. */
const enter = "\x1b[?1049h\x1b[?7l\x1b[?2004h";
const leave = "\x1b[?2004l\x1b[?7h\x1b[0m\x1b[?25h\x1b[?1049l";
/** Between these a terminal shows no partial frame. Terminals that do not know them ignore them. */
const beginUpdate = "\x1b[?2026h\x1b[?25l";
const endUpdate = "\x1b[?2026l";

export interface Frame {
	rows: Line[];
	/** Where the cursor is shown, counted from 0; nowhere without one. */
	cursor?: { row: number; column: number };
}

export class Terminal {
	#input = process.stdin;
	#output = process.stdout;
	#hasColour: boolean;
	#isOurs = false;
	/** What each row shows now. */
	#shown: string[] = [];
	#restore = () => this.leave();

	constructor(env: NodeJS.ProcessEnv) {
		this.#hasColour = !env.NO_COLOR;
	}

	get size(): { width: number; height: number } {
		const { columns = 80, rows = 24 } = this.#output;
		return { width: Math.max(10, columns), height: Math.max(4, rows) };
	}

	enter(onInput: (chunk: Buffer) => void, onResize: () => void, onGone: () => void): void {
		this.#take();
		this.#input.on("data", onInput);
		this.#input.on("end", onGone);
		this.#input.on("error", onGone);
		this.#output.on("error", onGone);
		this.#output.on("resize", () => {
			this.forget();
			onResize();
		});
		// After a stop the screen belongs to another program.
		process.on("SIGCONT", () => {
			this.#take();
			onResize();
		});
	}

	/** Gives the terminal to the shell until it resumes us. */
	suspend(): void {
		// Windows does not support this.
		if (process.platform === "win32") return;
		this.leave();
		// The whole group: the shell waits for all of it.
		process.kill(0, "SIGTSTP");
	}

	/** Gives the terminal back. Works in the middle of a crash, and twice. */
	leave(): void {
		if (!this.#isOurs) return;
		this.#isOurs = false;
		process.off("exit", this.#restore);
		try {
			this.#output.write(leave);
			this.#input.setRawMode(false);
		} catch {
			// There is no terminal any more.
		}
		this.#input.pause();
	}

	#take(): void {
		if (this.#isOurs) return;
		this.#isOurs = true;
		process.on("exit", this.#restore);
		this.forget();
		this.#output.write(enter);
		this.#input.setRawMode(true);
		this.#input.resume();
	}

	/** The next frame is drawn whole. */
	forget(): void {
		this.#shown = [];
	}

	/** Writes only the rows that have changed. */
	draw({ rows, cursor }: Frame): void {
		if (!this.#isOurs) return;
		const lines = rows.map((row) => this.#painted(row));
		let changes = this.#shown.length === 0 ? "\x1b[2J" : "";
		for (const [index, line] of lines.entries()) if (line !== this.#shown[index]) changes += `\x1b[${index + 1};1H${line}\x1b[K`;
		this.#shown = lines;
		const place = cursor ? `\x1b[${cursor.row + 1};${cursor.column + 1}H\x1b[?25h` : "";
		this.#output.write(`${beginUpdate}${changes}${place}${endUpdate}`);
	}

	#painted(row: Line): string {
		return row.map(({ text, styles }) => (styles.length ? `${this.#begin(styles)}${text}\x1b[0m` : text)).join("");
	}

	#begin(styles: readonly Style[]): string {
		const wanted = styles.map((style) => codes[style]).filter((code) => code < 30 || this.#hasColour);
		return wanted.length ? `\x1b[${wanted.join(";")}m` : "";
	}
}
