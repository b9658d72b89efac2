/** Says what a file is that cannot be shown as text. */

const kinds: readonly [start: string, kind: string][] = [
	["%PDF-", "a PDF document"],
	["PK\x03\x04", "a ZIP archive (or a document made of one)"],
	["\x1f\x8b", "gzip data"],
	["BZh", "bzip2 data"],
	["\xfd7zXZ", "xz data"],
	["\x28\xb5\x2f\xfd", "zstd data"],
	["7z\xbc\xaf", "a 7z archive"],
	["\x7fELF", "an ELF program or library"],
	["MZ", "a Windows program or library"],
	["\xcf\xfa\xed\xfe", "a macOS program or library"],
	["\xca\xfe\xba\xbe", "Java bytecode or a macOS program"],
	["\0asm", "WebAssembly"],
	["SQLite format 3", "an SQLite database"],
	["\xff\xfe", "UTF-16 text (convert it with: iconv -f UTF-16 -t UTF-8)"],
	["\xfe\xff", "UTF-16 text (convert it with: iconv -f UTF-16 -t UTF-8)"],
];

export function binaryKind(bytes: Buffer): string {
	const start = bytes.toString("latin1", 0, 16);
	return kinds.find(([begin]) => start.startsWith(begin))?.[1] ?? "binary data";
}
