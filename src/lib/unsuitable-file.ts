/** Requirements for untrusted files: regular, and not too large. */
import { constants } from "node:fs";

/** Opening with these flags never blocks: not on a pipe, a device or a terminal. */
export const readFlags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/** Why a file is not used. */
export class UnsuitableFile extends Error {
	override name = "UnsuitableFile";
}

export const notRegular = () => new UnsuitableFile("it is not a regular file");
export const tooLarge = (maxBytes: number) => new UnsuitableFile(`it is larger than ${shownSize(maxBytes)}`);
const shownSize = (bytes: number) => (bytes < 10 * 1024 * 1024 ? `${bytes / 1024} KB` : `${bytes / (1024 * 1024)} MB`);
