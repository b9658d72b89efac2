import Type, { type Static } from "typebox";
import { ack, command, flag, integer, optional, shape, text } from "../define.ts";
import { samples } from "../examples.ts";
import { Usage } from "../model.ts";

export const CompactionResult = shape("CompactionResult", "A summary took the place of older messages.", {
	summary: text(),
	firstKeptEntryId: text(),
	tokensBefore: integer(),
	details: Type.Record(text(), Type.Unknown(), { description: "`{readFiles, modifiedFiles}` unless an extension made the summary." }),
	shortSummary: optional(text()),
	preserveData: optional(Type.Unknown()),
	estimatedTokensAfter: optional(integer()),
	usage: optional(Usage),
});
export type CompactionResult = Static<typeof CompactionResult>;

export const compactionCommands = {
	compact: command({
		doc: "Compact the conversation now. A running run is aborted first.",
		lane: "background",
		access: "seat",
		params: { customInstructions: optional(text()) },
		result: CompactionResult,
		example: { send: { customInstructions: "Keep the names of all files." }, data: samples.compaction },
	}),
	set_auto_compaction: command({
		doc: "Automatic compaction on or off, for this session.",
		lane: "serial",
		access: "seat",
		params: { enabled: flag() },
		result: ack,
		example: { send: { enabled: false } },
	}),
};
