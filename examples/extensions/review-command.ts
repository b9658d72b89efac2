/** A command of your own: `/review [base]` asks the agent to review what changed since a commit. */
import type { Extension } from "bowline";

const reviewCommand: Extension = (api) => {
	api.registerFlag("review-base", { type: "string", description: "What /review compares with", default: "HEAD" });

	api.registerCommand("review", {
		description: "Review the uncommitted changes, or those since a commit",
		async handler(args, context) {
			const base = args.trim() || String(api.getFlag("review-base"));
			const { stdout, stderr, code } = await api.exec("git", ["diff", "--stat", base], { timeout: 10_000 });
			if (code !== 0) return context.ui.notify(`git diff failed: ${stderr.trim()}`, "error");
			if (stdout === "") return context.ui.notify(`Nothing has changed since ${base}.`);
			await context.waitForIdle();
			api.sendUserMessage(`Review the changes since ${base} for mistakes. These files have changed:\n\n${stdout}`);
		},
	});
};

export default reviewCommand;
