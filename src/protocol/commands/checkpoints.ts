import Type from "typebox";
import { command, flag, integer, list, optional, shape, text, words } from "../define.ts";
import { RunsLater } from "../sequence.ts";

const root = text({ description: "The directory that `path` members are relative to." });
const paths = list(text());

const lost = list(text(), {
	description:
		"Files and folders that git ignores, that were there and are gone or empty: too large to be kept, so they are not put back. Absent when there is none.",
});

export const CheckpointInfo = shape("CheckpointInfo", "A state of the files that can be gone back to.", {
	entryId: text(),
	timestamp: text(),
	phase: words("before", "after"),
	cause: words("turn", "rewind"),
});

export const FileChange = shape("FileChange", "What happened to a file.", {
	path: text(),
	status: words("added", "modified", "deleted"),
	added: optional(integer({ description: "Lines; absent for files that are not text." })),
	removed: optional(integer()),
});

export const RefMove = shape("RefMove", "What a name of a repository stood for before a rewind, and stands for after it.", {
	name: text({ description: "`refs/heads/main`, `refs/tags/v1`, `refs/stash`, `HEAD`; `.git` for a repository as a whole." }),
	before: optional(text({ description: "Absent when there was none." })),
	after: optional(text({ description: "Absent when there is none." })),
	repository: optional(text({ description: "Where it is below `root`; absent for that of `root` itself." })),
});

const checkpoint = { entryId: "5f0c1e2a", timestamp: "2026-03-02T09:30:00.000Z", phase: "before" as const, cause: "turn" as const };
const change = { path: "src/shop.ts", status: "modified" as const, added: 1, removed: 1 };
const diff = "diff --git a/src/shop.ts b/src/shop.ts\n--- a/src/shop.ts\n+++ b/src/shop.ts\n@@ -1 +1 @@\n-let a\n+let b\n";

export const checkpointCommands = {
	get_checkpoints: command({
		doc: "The states of the files that were noted in this session (`checkpoints.enabled`), oldest first: `before` a turn that may change files, and `after` it.",
		lane: "serial",
		access: "read",
		params: {},
		result: Type.Object({
			enabled: flag(),
			reason: optional(text({ description: "Why it is off." })),
			root: optional(root),
			checkpoints: list(CheckpointInfo),
			leftOut: optional(list(text(), { description: "Files that are too large, or too many, to keep; at most 1,000 names." })),
			withoutHistory: optional(list(text(), { description: "Repositories whose commits and branches are not kept, and why." })),
		}),
		example: { send: {}, data: { enabled: true, root: "/home/ada/shop", checkpoints: [checkpoint] } },
	}),
	get_changes: command({
		doc: "What happened to the files between two entries of the session: `from` its first checkpoint and `to` the files as they are now, unless named.",
		lane: "serial",
		access: "read",
		params: { from: optional(text()), to: optional(text()) },
		result: Type.Object({
			root,
			files: list(FileChange),
			diff: text({ description: "Unified, for `git apply` and people; at most 1 MiB." }),
			truncated: flag({ description: "The difference is longer." }),
			runsLater: optional(list(RunsLater, { description: "Those of the files that run later on their own; absent when none does." })),
			lost: optional(lost),
			history: optional(
				list(RefMove, { description: "What was lost of commits and branches, as a rewind to `from` would put it back; absent when nothing was." }),
			),
		}),
		example: { send: {}, data: { root: "/home/ada/shop", files: [change], diff, truncated: false } },
	}),
	rewind: command({
		doc: "Go back to an entry: files, conversation, or both; all or nothing. A run is aborted first. Files that others changed since stay as they are and are in `skipped`. To undo it, rewind to `undoEntryId`.",
		lane: "serial",
		access: "seat",
		params: {
			entryId: text({ description: "A checkpoint, or any entry. Of a prompt: to where it had not been sent." }),
			files: optional(flag({ description: "Default true." })),
			conversation: optional(flag({ description: "Default true." })),
		},
		result: Type.Object({
			cancelled: flag({ description: "An extension refused. Nothing was done." }),
			restored: paths,
			skipped: paths,
			lost: optional(lost),
			history: optional(
				Type.Object(
					{
						restored: list(RefMove),
						kept: optional(list(text(), { description: "Where commits are that were made since, and that no branch has now." })),
						problems: optional(list(text(), { description: "What could not be put back." })),
						more: optional(integer({ description: "So many names are left out." })),
					},
					{ description: "What of commits and branches had been lost; absent when nothing was." },
				),
			),
			undoEntryId: optional(text()),
			text: optional(text({ description: "The text of the prompt that the conversation went back to, to be edited and sent again." })),
		}),
		example: {
			send: { entryId: "5f0c1e2a" },
			data: { cancelled: false, restored: ["src/shop.ts"], skipped: [], undoEntryId: "77aa01f3", text: "What is this?" },
		},
	}),
};
